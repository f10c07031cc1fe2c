package mesh

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// hostIdentity returns the same for two processes if they can reach each other by abstract unix sockets: the machine's
// boot and the network namespace. Containers with the same hostname differ in it, unless they share their network.
// Where it cannot be known, every process is a host of its own.
func hostIdentity() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	var s unix.Stat_t
	if err == nil {
		err = unix.Stat("/proc/self/ns/net", &s)
	}
	if err != nil {
		return "unknown-" + rand.Text()
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s|%d|%d", boot, s.Dev, s.Ino))
	return hex.EncodeToString(sum[:8])
}
