//go:build unix

package secure

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// ReadSecretFD reads a secret, as ReadSecretFile, from an inherited descriptor: a file, read from its beginning
// wherever its offset is, because other processes may share it; or a pipe or socket, read to its end, for which it
// waits up to Budget. The descriptor is closed.
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
		return readSecret(io.NewSectionReader(f, 0, int64(secretText)), from)
	case syscall.S_IFIFO, syscall.S_IFSOCK:
		return readSecretStream(fd, from)
	}
	// It stays open: it is something of this process, which was named by mistake.
	return Secret{}, fmt.Errorf("secret: %s is neither a file nor a pipe", from)
}

func readSecretStream(fd int, from string) (Secret, error) {
	if err := syscall.SetNonblock(fd, true); err != nil { // or there would be no deadlines
		return Secret{}, fmt.Errorf("secret: %s: %w", from, err)
	}
	f := os.NewFile(uintptr(fd), from)
	defer f.Close()
	if err := f.SetReadDeadline(time.Now().Add(Budget)); err != nil {
		return Secret{}, fmt.Errorf("secret: %s: %w", from, err)
	}
	return readSecret(f, from)
}
