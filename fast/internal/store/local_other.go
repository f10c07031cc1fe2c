//go:build !linux

package store

import (
	"context"
	"errors"
)

// NewLocal is for Linux, where the system says who is at the other end of a socket that is no file.
func NewLocal(context.Context, Job) (*Local, error) {
	return nil, errors.New(`the store "local" is for Linux only: give an address for rank 0 to listen on, such as ` +
		`tcp://127.0.0.1:29500 (COLL_STORE), and a secret (COLL_SECRET_FILE)`)
}
