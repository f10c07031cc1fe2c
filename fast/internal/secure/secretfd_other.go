//go:build !unix

package secure

import "errors"

// ReadSecretFD reads a secret from an inherited descriptor, which this system does not have.
func ReadSecretFD(int) (Secret, error) {
	return Secret{}, errors.New("secret: this system has no descriptors to inherit; use a file")
}
