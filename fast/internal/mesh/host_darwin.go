package mesh

import (
	"crypto/rand"

	"golang.org/x/sys/unix"
)

// hostIdentity returns the machine's boot session, a random number that the system makes at each start. Where it cannot
// be known, every process is a host of its own.
func hostIdentity() string {
	session, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil || session == "" {
		return "unknown-" + rand.Text()
	}
	return session
}
