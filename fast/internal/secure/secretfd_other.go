//go:build !unix

package secure

import "errors"

// ReadSecretFD returns an error: this system has no descriptors to inherit.
func ReadSecretFD(int) (Secret, error) {
	return Secret{}, errors.New("secret: this system has no descriptors to inherit; use a file")
}
