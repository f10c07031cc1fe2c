package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Worlds are the stores, each as two processes see it.
var Worlds = map[string]func(t testing.TB) (one, two Store){
	"memory": func(testing.TB) (Store, Store) {
		m := NewMemory()
		return m, m
	},
	"file": func(t testing.TB) (Store, Store) {
		dir := filepath.Join(t.TempDir(), "job")
		return openFile(t, dir), openFile(t, dir)
	},
	"connection": func(t testing.TB) (Store, Store) {
		m := NewMemory()
		return m, clientOf(t, m)
	},
	"two connections": func(t testing.TB) (Store, Store) {
		m := NewMemory()
		return clientOf(t, m), clientOf(t, m)
	},
}

func openFile(t testing.TB, dir string) *File {
	f, err := NewFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// clientOf returns another process's view of m.
func clientOf(t testing.TB, m *Memory) *Client {
	near, far := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- Serve(ctx, far, m) }()
	c := NewClient(near, func(err error) error { return fmt.Errorf("lost: %w", err) })
	t.Cleanup(func() {
		_ = c.Close()
		cancel()
		<-served
	})
	return c
}

func inAll(t *testing.T, f func(t *testing.T, one, two Store)) {
	for name, world := range Worlds {
		t.Run(name, func(t *testing.T) {
			one, two := world(t)
			f(t, one, two)
		})
	}
}

func want(t testing.TB, s Store, key, value string) {
	t.Helper()
	if got, err := s.Get(t.Context(), key); err != nil || string(got) != value {
		t.Errorf("%q: %q, %v, want %q", key, got, err, value)
	}
}

func put(t testing.TB, s Store, key, value string) {
	t.Helper()
	if err := s.Set(t.Context(), key, []byte(value)); err != nil {
		t.Fatal(err)
	}
}

// absent reports whether there is no value.
func absent(s Store, key string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	_, err := s.Get(ctx, key)
	return errors.Is(err, context.DeadlineExceeded)
}

// TestAnyKeys compares with a map, with keys that mean something to file systems.
func TestAnyKeys(t *testing.T) {
	key := rapid.OneOf(
		rapid.SampledFrom([]string{".", "..", "/", "../x", "a/b", "a%2Fb", "a", "A", "a.value", "a.part", "\x00", "ä",
			"\xff", "*", strings.Repeat("/", MaxKey), strings.Repeat("k", MaxKey)}),
		rapid.StringN(1, -1, MaxKey))
	inAll(t, func(t *testing.T, one, two Store) {
		model := make(map[string][]byte)
		rapid.Check(t, func(t *rapid.T) {
			k, v := key.Draw(t, "key"), rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "value")
			if rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
				if err := one.Delete(t.Context(), k); err != nil {
					t.Fatal(err)
				}
				delete(model, k)
				return
			}
			if err := one.Set(t.Context(), k, v); err != nil {
				t.Fatal(err)
			}
			model[k] = v
		})
		for k, v := range model {
			if got, err := two.Get(t.Context(), k); err != nil || !bytes.Equal(got, v) {
				t.Errorf("%q: %q, %v, want %q", k, got, err, v)
			}
		}
	})
}

// TestMemoryIsBounded: what is replaced or deleted counts no more.
func TestMemoryIsBounded(t *testing.T) {
	m := NewMemory()
	m.bytes = maxAll - 10
	if err := m.Set(t.Context(), "a", make([]byte, 10)); err == nil {
		t.Error("there is no room, but a value was set")
	}
	put(t, m, "a", "123456789")
	put(t, m, "a", "987654321")
	if err := m.Set(t.Context(), "b", nil); err == nil {
		t.Error("there is no room, but a value was set")
	}
	if err := m.Delete(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if m.bytes != maxAll-10 || len(m.values) != 0 {
		t.Errorf("%d bytes, %d values", m.bytes, len(m.values))
	}
	if !absent(m, "a") || len(m.waiting) != 0 {
		t.Errorf("%d keys are waited for by nobody", len(m.waiting))
	}
}

// TestMemorySecret is another one for each.
func TestMemorySecret(t *testing.T) {
	a, _ := NewMemory().Secret(t.Context())
	b, _ := NewMemory().Secret(t.Context())
	if len(a) != SecretBytes || bytes.Equal(a, b) {
		t.Error("the secret is not random")
	}
}

// TestSecretsAreNotPrinted, in whatever way somebody tries, by mistake.
func TestSecretsAreNotPrinted(t *testing.T) {
	m := NewMemory()
	l := &Local{Shared{m, nil, nil}, m.secret}
	secret, _ := l.Secret(t.Context())
	for _, x := range []any{m, []*Memory{m}, struct{ m *Memory }{m}, l, struct{ l Local }{*l}, l.Shared} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X"} {
			text := fmt.Sprintf(verb, x)
			for _, part := range []string{"%d", "%#v", "%x", "%X", "%q"} {
				shown := strings.Trim(fmt.Sprintf(part, secret[:4]), `[]byte{}"`)
				if strings.Contains(text, shown) {
					t.Errorf("%s of %T shows %s of the secret", verb, x, shown)
				}
			}
		}
	}
}
