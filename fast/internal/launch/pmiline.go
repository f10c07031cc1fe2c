package launch

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	// maxCommand is the most bytes of a command without its end: there are launchers that read 1,024 at once.
	maxCommand = 1000
	// maxAnswer is the most bytes of an answer. Values come with some more.
	maxAnswer = 4096
	// maxParts is the most parts of one value: more than 64 KiB need at the smallest size of a part.
	maxParts = 4096
	// keyBytes is the most bytes of a part's key, of the 64 that launchers take.
	keyBytes = 40
)

// lines reads what a launcher says.
type lines struct{ r *bufio.Reader }

func newLines(r io.Reader) *lines { return &lines{bufio.NewReaderSize(r, maxAnswer)} }

// next returns the next line, without its end.
func (l *lines) next() (string, error) {
	b, err := l.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", fmt.Errorf("the launcher answers with more than %d bytes", maxAnswer)
	case err != nil:
		return "", err
	}
	return string(b[:len(b)-1]), nil
}

// answer is an answer's fields.
type answer map[string]string

// parseAnswer returns the fields of a line: name=value, separated by spaces. No name comes twice.
func parseAnswer(line string) (answer, error) {
	a := make(answer)
	for field := range strings.FieldsSeq(line) {
		name, value, ok := strings.Cut(field, "=")
		if _, twice := a[name]; !ok || name == "" || twice {
			return nil, fmt.Errorf("the launcher answers something else than name=value: %q", line[:min(len(line), 100)])
		}
		a[name] = value
	}
	return a, nil
}

// cut returns a value in parts of at most longest bytes, which are letters, digits, - and _. The first one begins with
// the number of parts and a dot.
func cut(value []byte, longest int) []string {
	text := base64.RawURLEncoding.EncodeToString(value)
	const count = len("4096.")
	parts := []string{""}
	for room := longest - count; ; room = longest {
		n := min(room, len(text))
		parts[len(parts)-1], text = text[:n], text[n:]
		if text == "" {
			break
		}
		parts = append(parts, "")
	}
	parts[0] = strconv.Itoa(len(parts)) + "." + parts[0]
	return parts
}

// splitCount returns the number of parts that the first one begins with, and the rest of it.
func splitCount(first string) (count int, rest string, err error) {
	number, rest, ok := strings.Cut(first, ".")
	count, err = strconv.Atoi(number)
	if !ok || err != nil || count < 1 || count > maxParts {
		return 0, "", errors.New("the value is not one of collgen's")
	}
	return count, rest, nil
}

// partKey returns the launcher's key for a part: launchers take short keys without any other sign than these.
func partKey(key string, part int) string {
	h := sha256.Sum256([]byte(key))
	return fmt.Sprintf("collgen-%x-%d", h[:12], part)
}
