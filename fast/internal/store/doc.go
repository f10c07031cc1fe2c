// Package store is where the processes of a job leave what the others need to find them, under keys, until all are
// connected: values are set, waited for, and deleted.
//
// Memory keeps them for goroutines of one process, File in a directory that all processes see. Local and TCP share the
// Memory of one process with the others over sockets, by the small protocol of this package. Local also hands out a
// secret, because only processes of the same user on the same host can ask for it.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Store is what processes need of a store. All methods may be called at any time, from many goroutines.
type Store interface {
	Set(ctx context.Context, key string, value []byte) error
	Get(ctx context.Context, key string) ([]byte, error)
	Delete(ctx context.Context, key string) error
}

// What a key and a value may be at most, in bytes, and what the values of one Memory may be together.
const (
	MaxKey   = 200
	MaxValue = 64 << 10
	maxAll   = 256 << 20
)

// ErrClosed is what a store says after Close.
var ErrClosed = errors.New("store is closed")

// Check refuses a key or value that is too long, and an empty key.
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

// ended returns the error of a wait that ctx ended.
func ended(ctx context.Context, key string) error {
	return fmt.Errorf("waiting for %q in the store: %w", key, wire.Ended(ctx))
}

// pause waits, or ends with ctx.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
