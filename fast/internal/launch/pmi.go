package launch

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// KVS is the store that a launcher keeps for its processes, over PMI-1. A value becomes visible after a barrier of
// all processes. The first Get after a Set is that barrier, so all processes have to alternate alike: each sets what it
// has, then gets what it wants. A key is set once. Nothing is deleted before the job ends.
//
// The launcher's processes send the values to each other in their own way, which is in the clear with most launchers.
type KVS struct {
	rank int

	mu    sync.Mutex
	conn  duplex
	lines *lines
	name  string
	value int   // most bytes of a value, in its encoding
	dirty bool  // something was set since the last barrier
	err   error // why the connection is of no use any more
}

// duplex is what PMI_FD is.
type duplex interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
}

// replyTime is how long the launcher may take for an answer that waits for nobody.
const replyTime = time.Minute

// newKVS says to the launcher that this process is there.
func newKVS(ctx context.Context, conn duplex, rank int) (*KVS, error) {
	k := &KVS{rank: rank, conn: conn, lines: newLines(conn)}
	if err := k.start(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return k, nil
}

// start agrees on the version, and asks for the name and the limits of the store.
func (k *KVS) start(ctx context.Context) error {
	r, err := k.ask(ctx, replyTime, "response_to_init", "cmd=init pmi_version=1 pmi_subversion=1")
	if err == nil && r["pmi_version"] != "1" {
		err = fmt.Errorf("PMI: the launcher wants version %q, and this is version 1", r["pmi_version"])
	}
	if err != nil {
		return err
	}
	if r, err = k.ask(ctx, replyTime, "maxes", "cmd=get_maxes"); err != nil {
		return err
	}
	longest, failed := strconv.Atoi(r["vallen_max"])
	key, err := strconv.Atoi(r["keylen_max"])
	if err = errors.Join(failed, err); err != nil || longest < 64 || key < keyBytes {
		return fmt.Errorf("PMI: the launcher takes keys of %q and values of %q bytes, which are too few", r["keylen_max"],
			r["vallen_max"])
	}
	if r, err = k.ask(ctx, replyTime, "my_kvsname", "cmd=get_my_kvsname"); err != nil {
		return err
	}
	k.name = r["kvsname"]
	k.value = min(longest-1, maxCommand-len(k.put("", ""))-keyBytes)
	if k.name == "" || k.value < 32 {
		return errors.New("PMI: the launcher's store has no name, or one that is too long")
	}
	return nil
}

// ask sends a command and reads the answer to it. After an error nobody knows what is said next: it is the last
// command.
func (k *KVS) ask(ctx context.Context, within time.Duration, want, command string) (answer, error) {
	if k.err != nil {
		return nil, k.err
	}
	_ = k.conn.SetDeadline(time.Now().Add(within))
	stop := context.AfterFunc(ctx, func() { _ = k.conn.SetDeadline(time.Unix(1, 0)) })
	r, err := k.exchange(want, command)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		k.err = fmt.Errorf("PMI: %s: %w", strings.TrimPrefix(strings.SplitN(command, " ", 2)[0], "cmd="), err)
		return nil, k.err
	}
	return r, nil
}

// exchange writes a command at once, because some launchers take what they read at once for one.
func (k *KVS) exchange(want, command string) (answer, error) {
	if _, err := io.WriteString(k.conn, command+"\n"); err != nil {
		return nil, err
	}
	line, err := k.lines.next()
	if err != nil {
		return nil, err
	}
	r, err := parseAnswer(line)
	switch {
	case err != nil:
		return nil, err
	case r["cmd"] != want:
		return nil, fmt.Errorf("the launcher answers %q, want %q", r["cmd"], want)
	case r["rc"] != "" && r["rc"] != "0":
		return nil, fmt.Errorf("the launcher answers that it failed: %q %q", r["rc"], r["msg"])
	}
	return r, nil
}

// put returns the command that sets one value.
func (k *KVS) put(key, value string) string {
	return "cmd=put kvsname=" + k.name + " key=" + key + " value=" + value
}

// Set sets a value, in parts if it is too long for the launcher.
func (k *KVS) Set(ctx context.Context, key string, value []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, part := range cut(value, k.value) {
		if _, err := k.ask(ctx, replyTime, "put_result", k.put(partKey(key, i), part)); err != nil {
			return err
		}
	}
	k.dirty = true
	return nil
}

// Get waits until all processes are where this one is, if it has set something since the last time, and gets a value.
func (k *KVS) Get(ctx context.Context, key string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.fence(ctx); err != nil {
		return nil, err
	}
	var parts []string
	for count := 1; len(parts) < count; {
		command := "cmd=get kvsname=" + k.name + " key=" + partKey(key, len(parts))
		r, err := k.ask(ctx, replyTime, "get_result", command)
		if err != nil {
			return nil, fmt.Errorf("%q in the launcher's store: %w", key, err)
		}
		part := r["value"]
		if len(parts) == 0 {
			if count, part, err = splitCount(part); err != nil {
				return nil, fmt.Errorf("%q in the launcher's store: %w", key, err)
			}
		}
		parts = append(parts, part)
	}
	return base64.RawURLEncoding.DecodeString(strings.Join(parts, ""))
}

// barrierTime bounds a barrier whose context has no end.
const barrierTime = time.Hour

func (k *KVS) fence(ctx context.Context) error {
	if !k.dirty {
		return nil
	}
	_, err := k.ask(ctx, barrierTime, "barrier_out", "cmd=barrier_in")
	k.dirty = err != nil
	return err
}

// Delete does nothing: the launcher's store ends with the job.
func (k *KVS) Delete(context.Context, string) error { return nil }

// Secret returns one that rank 0 makes. All processes ask for it, before they get anything else.
func (k *KVS) Secret(ctx context.Context) ([]byte, error) {
	if k.rank == 0 {
		secret := make([]byte, sha256.Size)
		_, _ = rand.Read(secret) // never fails
		if err := k.Set(ctx, "secret", secret); err != nil {
			return nil, err
		}
	}
	k.mu.Lock()
	k.dirty = true
	k.mu.Unlock()
	return k.Get(ctx, "secret")
}

// Close says to the launcher that this process is done with PMI: it may end as it likes from now on.
func (k *KVS) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		_, _ = k.ask(context.Background(), time.Second, "finalize_ack", "cmd=finalize")
		k.err = errors.New("PMI: the store is closed")
	}
	return k.conn.Close()
}

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
