// Package store is where the processes of a job publish what the others need to connect to them: values under keys that
// are set, waited for and deleted.
//
// Memory keeps them for the goroutines of one process, File in a directory that all processes see. Local and TCP share
// the Memory of one process with the others over sockets, with the small protocol of this package. Local also hands out
// a secret, because only processes of the same user on the same host can ask for it.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Store is the interface of all stores. Its methods may be called at any time, from many goroutines.
type Store interface {
	Set(ctx context.Context, key string, value []byte) error
	Get(ctx context.Context, key string) ([]byte, error)
	Delete(ctx context.Context, key string) error
}

// The greatest lengths of a key and a value, in bytes, and of all values of one Memory together.
const (
	MaxKey   = 200
	MaxValue = 64 << 10
	maxAll   = 256 << 20
)

// ErrClosed is the error of a store that was closed.
var ErrClosed = errors.New("store is closed")

// Check returns an error if the key is empty, or the key or value is too long.
func Check(key string, value []byte) error {
	switch {
	case key == "":
		return errors.New("store: the key is empty")
	case len(key) > MaxKey:
		return fmt.Errorf("store: the key has %d bytes, want at most %d", len(key), MaxKey)
	case len(value) > MaxValue:
		return fmt.Errorf("store: the value of %q has %d bytes, want at most %d", key, len(value), MaxValue)
	}
	return nil
}

// waitError returns the error of a wait for key that the end of ctx has ended.
func waitError(ctx context.Context, key string) error {
	return fmt.Errorf("waiting for %q in the store: %w", key, wire.Ended(ctx))
}

// sleep waits for d. It returns the cause if ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
