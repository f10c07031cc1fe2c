package secure

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Secret is known to all processes of a job and to nobody else. It is never printed.
type Secret [32]byte

const hidden = "(secret)"

// Format writes a placeholder, with any verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// String returns a placeholder.
func (Secret) String() string { return hidden }

// GoString returns a placeholder.
func (Secret) GoString() string { return hidden }

// MarshalText returns a placeholder.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// MarshalJSON returns a placeholder.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// ReadSecretFile reads a secret from a file that only its owner may read. The file has the 32 bytes, or 64 hexadecimal
// digits with or without an end of line.
func ReadSecretFile(path string) (Secret, error) {
	// Without O_NONBLOCK, opening a FIFO would block.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Secret{}, fmt.Errorf("secret: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return Secret{}, fmt.Errorf("secret: %w", err)
	case !info.Mode().IsRegular():
		return Secret{}, fmt.Errorf("secret: %s is not a file", path)
	case info.Mode().Perm()&0o077 != 0:
		return Secret{}, fmt.Errorf("secret: %s is open to other users: its mode is %#o, want 0600", path, info.Mode().Perm())
	}
	return readSecret(f, path)
}

// maxSecretText is the greatest length of a secret in a file, plus one to notice longer files.
const maxSecretText = 2*len(Secret{}) + len("\r\n") + 1

func readSecret(r io.Reader, from string) (Secret, error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(maxSecretText)))
	if err != nil {
		return Secret{}, fmt.Errorf("secret: reading %s: %w", from, err)
	}
	s, err := parseSecret(text)
	if err != nil {
		return Secret{}, fmt.Errorf("secret: %s: %w", from, err)
	}
	return s, nil
}

// parseSecret parses the contents of a file with a secret. Its errors do not reveal them.
func parseSecret(text []byte) (s Secret, err error) {
	if len(text) != len(s) {
		digits := bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
		text = make([]byte, hex.DecodedLen(len(digits)))
		if _, err = hex.Decode(text, digits); err != nil || len(text) != len(s) {
			return s, errors.New("want 32 bytes, or 64 hexadecimal digits and the end of the line")
		}
	}
	if copy(s[:], text); s == (Secret{}) {
		return s, errors.New("a secret cannot be all zeros")
	}
	return s, nil
}
