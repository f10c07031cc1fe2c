//go:build !linux && !darwin

package mesh

import (
	"crypto/rand"
	"os"
)

// hostIdentity returns the hostname, because this system tells nothing better. Two hosts of one name would take each
// other for one, and then not connect; Config.Host can tell them apart.
func hostIdentity() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "unknown-" + rand.Text()
	}
	return name
}
