package remote

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/collgen/collgen/verify/colltest"
)

// appendCall appends the words of a call after the first one, but for its memory.
func appendCall(b []byte, c *colltest.Call) []byte {
	op, form, blocks := "-", "apart", "even"
	if c.Op != 0 {
		op = c.Op.String()
	}
	if c.InPlace {
		form = "in-place"
	}
	if c.Uneven {
		blocks = "uneven"
	}
	return fmt.Appendf(b, "%s %v %s %d %d %s %s %d %s %d %s %d ", c.Primitive, c.Type, op, c.Root, c.Peer, form, blocks,
		c.InAt, countsText(c.InCounts, c.InStarts), c.OutAt, countsText(c.OutCounts, c.OutStarts), len(c.Memory))
}

// countsText returns counts as "3,0,7", with where blocks begin as "3@0,0@9,7@4", or "-" if the rank does not have the
// buffer.
func countsText(counts, starts []int) string {
	if counts == nil {
		return "-"
	}
	var texts []string
	for b, n := range counts {
		text := strconv.Itoa(n)
		if starts != nil {
			text += "@" + strconv.Itoa(starts[b])
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ",")
}

// mostAnswer returns the largest length of an answer to a call, given the bytes of its memory.
func mostAnswer(memory int) int { return max(4096, len("done ")+2*memory) }

// refusal returns the error that an answer says, or nil.
func refusal(line string) error {
	if text, isError := strings.CutPrefix(line, "error "); isError {
		return errors.New(strings.ToValidUTF8(text, "?"))
	}
	if text, cannot := strings.CutPrefix(line, "cannot "); cannot {
		return fmt.Errorf("%w: %s", colltest.ErrCannot, strings.ToValidUTF8(text, "?"))
	}
	return nil
}

// decodeWord returns the error of an answer that is one word, such as "started".
func decodeWord(line, word string) error {
	if err := refusal(line); err != nil || line == word {
		return err
	}
	return fmt.Errorf("it wrote %s, want %q, \"cannot …\" or \"error …\"", brief(line), word)
}

// decodeAnswer parses the answer to a call, and copies its contents to memory unless it returns an error.
func decodeAnswer(line string, memory []byte) error {
	if err := refusal(line); err != nil {
		return err
	}
	text, isDone := strings.CutPrefix(line, "done ")
	if !isDone {
		return fmt.Errorf("it wrote %s, want \"done …\", \"cannot …\" or \"error …\"", brief(line))
	}
	if len(text) != 2*len(memory) {
		return fmt.Errorf("it wrote %d hexadecimal digits for %d bytes", len(text), len(memory))
	}
	after, err := hex.DecodeString(text)
	if err != nil {
		return err
	}
	copy(memory, after)
	return nil
}
