//go:build !linux

package store

import (
	"context"
	"errors"
)

// NewLocal returns an error: only on Linux does the system say who is at the other end of an abstract socket.
func NewLocal(context.Context, Job) (*Local, error) {
	return nil, errors.New(`the store "local" works only on Linux: give an address for rank 0 to listen on, such as ` +
		`tcp://127.0.0.1:29500 (COLL_STORE), and a secret (COLL_SECRET_FILE)`)
}
