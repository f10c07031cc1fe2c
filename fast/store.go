package fast

import (
	"context"

	"github.com/collgen/collgen/fast/internal/store"
)

// Store is where the processes of a job leave their addresses for the others while they start. Keys have at most 200
// bytes and values at most 64 KiB. All methods may be called at any time, from many goroutines.
//
// A Store need not be trusted: its contents are authenticated by the job's secret, which it does not see. A Store that
// can give the same 32 secret bytes to all processes of the job, and to nobody else, has one more method:
//
//	Secret(ctx context.Context) ([]byte, error)
type Store interface {
	// Set sets or replaces the value under key. It keeps a copy.
	Set(ctx context.Context, key string, value []byte) error
	// Get waits until there is a value under key, or until ctx ends.
	Get(ctx context.Context, key string) ([]byte, error)
	// Delete removes key and its value. A missing key is no error.
	Delete(ctx context.Context, key string) error
}

// MaxStoreKey and MaxStoreValue are the limits of a Store's keys and values, in bytes.
const (
	MaxStoreKey   = store.MaxKey
	MaxStoreValue = store.MaxValue
)

// CheckStoreEntry returns an error if key is empty or too long, or value is too long. Implementations of Store call it.
func CheckStoreEntry(key string, value []byte) error { return store.Check(key, value) }

// NewMemoryStore returns a Store for ranks that are goroutines of one process. It has a random secret for them.
func NewMemoryStore() Store { return store.NewMemory() }
