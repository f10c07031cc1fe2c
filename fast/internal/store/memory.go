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

// Memory is a store for the goroutines of one process. It may be used by many at once.
type Memory struct {
	secret func() []byte // a function, because that is printed as an address, whatever the verb

	mu      sync.Mutex
	values  map[string][]byte
	bytes   int // of all keys and values
	waiting map[string]*wait
}

// wait is of those who wait for one key.
type wait struct {
	set   chan struct{} // closed when there is a value
	users int
}

// NewMemory returns an empty store with a random secret.
func NewMemory() *Memory {
	secret := make([]byte, SecretBytes)
	_, _ = rand.Read(secret) // never fails
	return &Memory{secret: keeping(secret), values: make(map[string][]byte), waiting: make(map[string]*wait)}
}

// keeping returns a function that gives copies of secret.
func keeping(secret []byte) func() []byte {
	return func() []byte { return slices.Clone(secret) }
}

// Secret returns the random secret of those who share m.
func (m *Memory) Secret(context.Context) ([]byte, error) { return m.secret(), nil }

// Set sets or replaces a value. It keeps a copy.
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

// cost returns what a key and its value take now.
func (m *Memory) cost(key string) int {
	if v, ok := m.values[key]; ok {
		return len(key) + len(v)
	}
	return 0
}

// Get waits for a value. It is a copy.
func (m *Memory) Get(ctx context.Context, key string) ([]byte, error) {
	if err := Check(key, nil); err != nil {
		return nil, err
	}
	for {
		value, w := m.look(key)
		if w == nil {
			return value, nil
		}
		select {
		case <-w.set: // and perhaps deleted since
		case <-ctx.Done():
			m.leave(key, w)
			return nil, ended(ctx, key)
		}
	}
}

// look returns a copy of the value, or else what to wait for.
func (m *Memory) look(key string) ([]byte, *wait) {
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

// leave is called by who waits no longer.
func (m *Memory) leave(key string, w *wait) {
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
