//go:build !linux || !cgo || netgo

package device

import (
	"context"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/verbs"
)

// Open returns an error that is verbs.ErrUnavailable.
func Open(context.Context, Options) (rdma.Domain, error) { return nil, unavailable() }

// Find returns the same error.
func Find(context.Context, Options) (usable []Options, refused []error, err error) {
	return nil, nil, unavailable()
}

func unavailable() error {
	_, err := verbs.Devices()
	return err
}
