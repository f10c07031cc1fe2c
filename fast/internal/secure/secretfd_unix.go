//go:build unix

package secure

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// ReadSecretFD reads a secret, in the formats of ReadSecretFile, from an inherited descriptor and closes it. A file is
// read from its beginning, because other processes may share its offset. A pipe or socket is read to its end, which may
// take up to Budget.
func ReadSecretFD(fd int) (Secret, error) {
	from := fmt.Sprintf("descriptor %d", fd)
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return Secret{}, fmt.Errorf("secret: %s: %w", from, err)
	}
	switch stat.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		f := os.NewFile(uintptr(fd), from)
		defer f.Close()
		return readSecret(io.NewSectionReader(f, 0, int64(maxSecretText)), from)
	case syscall.S_IFIFO, syscall.S_IFSOCK:
		return readSecretStream(fd, from)
	}
	// It stays open: this process may use it for something else, and it was named by mistake.
	return Secret{}, fmt.Errorf("secret: %s is neither a file nor a pipe", from)
}

func readSecretStream(fd int, from string) (Secret, error) {
	if err := syscall.SetNonblock(fd, true); err != nil { // deadlines need it
		return Secret{}, fmt.Errorf("secret: %s: %w", from, err)
	}
	f := os.NewFile(uintptr(fd), from)
	defer f.Close()
	if err := f.SetReadDeadline(time.Now().Add(Budget)); err != nil {
		return Secret{}, fmt.Errorf("secret: %s: %w", from, err)
	}
	return readSecret(f, from)
}
