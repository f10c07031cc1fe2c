package mesh

import (
	"testing"

	"golang.org/x/sys/unix"
)

// FuzzRights: what comes with bytes on a socket has at most as many files as there is room for.
func FuzzRights(f *testing.F) {
	f.Add(unix.UnixRights(1, 2, 3))
	f.Add(append(unix.UnixRights(7), unix.UnixRights(8)...))
	f.Add(unix.UnixCredentials(&unix.Ucred{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if fds, _ := parseRights(b); len(fds) > len(b)/4 {
			t.Errorf("%d files in %d bytes", len(fds), len(b))
		}
	})
}
