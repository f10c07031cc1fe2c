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

// Secret is what the processes of a job have in common, and nobody else has. It is never printed.
type Secret [32]byte

const hidden = "(secret)"

// Format writes that it is a secret, whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// String returns that it is a secret.
func (Secret) String() string { return hidden }

// GoString returns that it is a secret.
func (Secret) GoString() string { return hidden }

// MarshalText returns that it is a secret.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// MarshalJSON returns that it is a secret.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// ReadSecretFile reads a secret from a file that only its owner may read: its 32 bytes, or 64 hexadecimal digits and an
// end of line or none.
func ReadSecretFile(path string) (Secret, error) {
	// A FIFO in the place of a file is not to hold us up.
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

// secretText is the most bytes that a secret has in a file, and one more.
const secretText = 2*len(Secret{}) + len("\r\n") + 1

func readSecret(r io.Reader, from string) (Secret, error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(secretText)))
	if err != nil {
		return Secret{}, fmt.Errorf("secret: reading %s: %w", from, err)
	}
	s, err := parseSecret(text)
	if err != nil {
		return Secret{}, fmt.Errorf("secret: %s: %w", from, err)
	}
	return s, nil
}

// parseSecret reads what a file with a secret has in it. Its errors do not tell what that was.
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
