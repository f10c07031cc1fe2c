// Package redis is a store of package fast in a Redis server: it is how the processes of a job find each other where
// there is one.
//
//	client := redis.NewClient(&redis.Options{Addr: "redis:6379"})
//	opts := append(fast.FromEnv(), fast.WithStore(store.New(client, 0)), fast.WithSecretFile("/run/secrets/job"))
//	c, err := fast.Init(ctx, opts...)
//
// Whoever can write to the server can keep a job from starting, but not take part in it, because what a process says
// there is authenticated by the job's secret, which the server does not see.
package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/collgen/collgen/fast"
)

// DefaultTTL is how long a value is kept. It is longer than a job takes to start.
const DefaultTTL = 10 * time.Minute

// How long to wait before asking for a value again: the first time, and at most.
const (
	firstPause = 2 * time.Millisecond
	longPause  = 250 * time.Millisecond
)

// Store is a fast.Store in Redis. Values expire, so nothing is left of a job in the end.
type Store struct {
	client redis.Cmdable
	ttl    time.Duration
}

var _ fast.Store = (*Store)(nil)

// New returns a store whose values expire after ttl, or DefaultTTL if it is 0. The client stays the caller's: a
// *redis.Client,
// *redis.ClusterClient or *redis.Ring.
func New(client redis.Cmdable, ttl time.Duration) *Store {
	if ttl == 0 {
		ttl = DefaultTTL
	}
	return &Store{client, ttl}
}

// Set sets or replaces a value.
func (s *Store) Set(ctx context.Context, key string, value []byte) error {
	if err := fast.CheckStoreEntry(key, value); err != nil {
		return err
	}
	if err := s.client.Set(ctx, key, value, s.ttl).Err(); err != nil {
		return fmt.Errorf("redis: setting %q: %w", key, err)
	}
	return nil
}

// Get waits for a value: it asks again and again, four times a second in the long run.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) {
	if err := fast.CheckStoreEntry(key, nil); err != nil {
		return nil, err
	}
	for wait := firstPause; ; wait = min(2*wait, longPause) {
		value, err := s.client.Get(ctx, key).Bytes()
		switch {
		case err == nil:
			return value, fast.CheckStoreEntry(key, value)
		case ctx.Err() == nil && !errors.Is(err, redis.Nil):
			return nil, fmt.Errorf("redis: getting %q: %w", key, err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, fmt.Errorf("redis: waiting for %q: %w", key, context.Cause(ctx))
		}
	}
}

// Delete removes a value, if there is one.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := s.client.Del(ctx, key).Err(); err != nil {
		return fmt.Errorf("redis: deleting %q: %w", key, err)
	}
	return nil
}
