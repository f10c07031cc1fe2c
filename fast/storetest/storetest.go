// Package storetest checks that a store keeps the promises of fast.Store. Who writes one calls TestStore in a test.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
)

// TestStore runs all checks as tests below t. Each calls open for an empty store as two processes see it: one and two
// may be the same.
func TestStore(t *testing.T, open func(t *testing.T) (one, two fast.Store)) {
	for name, check := range map[string]func(t *testing.T, one, two fast.Store){
		"values": values, "waits": waits, "ended": ended, "limits": limits, "copies": copies,
	} {
		t.Run(name, func(t *testing.T) {
			one, two := open(t)
			check(t, one, two)
		})
	}
}

func want(t *testing.T, s fast.Store, key, value string) {
	t.Helper()
	if got, err := s.Get(t.Context(), key); err != nil || string(got) != value {
		t.Errorf("%q: got %d bytes %.20q, %v, want %d bytes %.20q", key, len(got), got, err, len(value), value)
	}
}

func put(t *testing.T, s fast.Store, key, value string) {
	t.Helper()
	if err := s.Set(t.Context(), key, []byte(value)); err != nil {
		t.Fatal(err)
	}
}

// absent reports whether a get waits in vain.
func absent(s fast.Store, key string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := s.Get(ctx, key)
	return errors.Is(err, context.DeadlineExceeded)
}

// values are set, replaced and deleted, and each process sees what the other has done.
func values(t *testing.T, one, two fast.Store) {
	put(t, one, "a", "1")
	want(t, two, "a", "1")
	put(t, two, "a", "22")
	want(t, one, "a", "22")
	put(t, one, "empty", "")
	want(t, two, "empty", "")
	bytes := strings.Repeat("\x00\n\xff", fast.MaxStoreValue/3)
	put(t, one, "collgen/a job/7/1/0", bytes)
	want(t, two, "collgen/a job/7/1/0", bytes)
	put(t, one, strings.Repeat("k", fast.MaxStoreKey), "long")
	want(t, two, strings.Repeat("k", fast.MaxStoreKey), "long")
	for range 2 {
		if err := two.Delete(t.Context(), "a"); err != nil {
			t.Error(err)
		}
	}
	if !absent(one, "a") {
		t.Error("a deleted value is there")
	}
	want(t, one, "empty", "")
}

// waits has many who get come before the one who sets.
func waits(t *testing.T, one, two fast.Store) {
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { want(t, two, fmt.Sprint("key ", i%10), fmt.Sprint(i%10)) })
	}
	if !absent(two, "never") {
		t.Error("a value that nobody set is there")
	}
	for i := range 10 {
		put(t, one, fmt.Sprint("key ", i), fmt.Sprint(i))
	}
	all.Wait()
}

// ended: a get ends with its context, and fails with its cause.
func ended(t *testing.T, one, two fast.Store) {
	for _, s := range []fast.Store{one, two} {
		ctx, cancel := context.WithCancelCause(t.Context())
		reason := errors.New("given up")
		got := make(chan error)
		go func() {
			_, err := s.Get(ctx, "never")
			got <- err
		}()
		time.AfterFunc(20*time.Millisecond, func() { cancel(reason) })
		select {
		case err := <-got:
			if !errors.Is(err, reason) {
				t.Errorf("%v, want the cause of the context's end", err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("a get does not end with its context")
		}
	}
}

// limits: what is too long is refused, and there is no empty key.
func limits(t *testing.T, one, _ fast.Store) {
	for _, c := range []struct {
		key   string
		bytes int
	}{{"", 1}, {strings.Repeat("k", fast.MaxStoreKey+1), 1}, {"k", fast.MaxStoreValue + 1}} {
		if err := one.Set(t.Context(), c.key, make([]byte, c.bytes)); err == nil {
			t.Errorf("a key of %d and a value of %d bytes were set", len(c.key), c.bytes)
		}
	}
	if _, err := one.Get(t.Context(), ""); err == nil {
		t.Error("got the value of no key")
	}
}

// copies: neither the slice that was set nor one that was got is the store's.
func copies(t *testing.T, one, _ fast.Store) {
	value := []byte("value")
	if err := one.Set(t.Context(), "k", value); err != nil {
		t.Fatal(err)
	}
	value[0] = 'x'
	if got, err := one.Get(t.Context(), "k"); err != nil {
		t.Error(err)
	} else {
		got[1] = 'x'
	}
	want(t, one, "k", "value")
}
