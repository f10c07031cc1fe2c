package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
)

// SecretBytes is the length of a job's secret.
const SecretBytes = 32

// Memory is a store for the goroutines of one process.
type Memory struct {
	secret func() []byte // a function, because every verb prints it as an address

	mu      sync.Mutex
	values  map[string][]byte
	bytes   int // of all keys and values
	waiting map[string]*wait
}

// wait is shared by the goroutines that wait for one key.
type wait struct {
	set   chan struct{} // closed when there is a value, or err
	err   error         // why it has failed
	users int
}

// NewMemory returns an empty store with a random secret.
func NewMemory() *Memory {
	secret := make([]byte, SecretBytes)
	_, _ = rand.Read(secret) // never fails
	return &Memory{secret: hide(secret), values: make(map[string][]byte), waiting: make(map[string]*wait)}
}

// hide returns a function that returns copies of secret.
func hide(secret []byte) func() []byte {
	return func() []byte { return slices.Clone(secret) }
}

// Secret returns the random secret of m.
func (m *Memory) Secret(context.Context) ([]byte, error) { return m.secret(), nil }

// Set stores a copy of a value.
func (m *Memory) Set(_ context.Context, key string, value []byte) error {
	if err := Check(key, value); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bytes-m.cost(key)+len(key)+len(value) > maxAll {
		return fmt.Errorf("store: no room for %q: the values have %d bytes, want at most %d", key, m.bytes, maxAll)
	}
	m.bytes += len(key) + len(value) - m.cost(key)
	m.values[key] = slices.Clone(value)
	if w := m.waiting[key]; w != nil {
		close(w.set)
		delete(m.waiting, key)
	}
	return nil
}

// cost returns how many bytes a key and its value take at present.
func (m *Memory) cost(key string) int {
	if v, ok := m.values[key]; ok {
		return len(key) + len(v)
	}
	return 0
}

// Get waits for a value and returns a copy of it.
func (m *Memory) Get(ctx context.Context, key string) ([]byte, error) {
	if err := Check(key, nil); err != nil {
		return nil, err
	}
	for {
		value, w := m.lookup(key)
		if w == nil {
			return value, nil
		}
		select {
		case <-w.set: // the value may have been deleted since
			if w.err != nil {
				return nil, w.err
			}
		case <-ctx.Done():
			m.stopWaiting(key, w)
			return nil, waitError(ctx, key)
		}
	}
}

// lookup returns a copy of the value, or the wait for it, which the caller has joined.
func (m *Memory) lookup(key string) ([]byte, *wait) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := m.values[key]; ok {
		return append([]byte{}, v...), nil
	}
	w := m.waiting[key]
	if w == nil {
		w = &wait{set: make(chan struct{})}
		m.waiting[key] = w
	}
	w.users++
	return nil, w
}

// failWaits has all that wait for values now fail with err.
func (m *Memory) failWaits(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, w := range m.waiting {
		w.err = err
		close(w.set)
		delete(m.waiting, key)
	}
}

// stopWaiting leaves the wait for a key.
func (m *Memory) stopWaiting(key string, w *wait) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.users--; w.users == 0 && m.waiting[key] == w {
		delete(m.waiting, key)
	}
}

// Delete removes a value, if there is one.
func (m *Memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes -= m.cost(key)
	delete(m.values, key)
	return nil
}
