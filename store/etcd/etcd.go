// Package etcd is a store of package fast in an etcd cluster: it is how the processes of a job find each other where
// there is one.
//
//	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://etcd:2379"}})
//	...
//	s, err := etcd.New(ctx, client, 0)
//	...
//	c, err := fast.Init(ctx, append(fast.FromEnv(), fast.WithStore(s), fast.WithSecretFile("/run/secrets/job"))...)
//	err = errors.Join(err, s.Close())
//
// Whoever can write to the cluster can keep a job from starting, but not take part in it, because what a process says
// there is authenticated by the job's secret, which the cluster does not see.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/collgen/collgen/fast"
)

// DefaultTTL is how long what a process has set outlives it.
const DefaultTTL = time.Minute

// closeTime is how long Close may take.
const closeTime = 5 * time.Second

// Store is a fast.Store in etcd. What it sets is there until Close, or for a while after this process has died, because
// it is under a lease that is kept alive until then.
type Store struct {
	client *clientv3.Client
	lease  clientv3.LeaseID
	stop   context.CancelFunc
	done   chan struct{} // closed when nobody keeps the lease alive any more
}

var _ fast.Store = (*Store)(nil)

// New takes a lease of ttl, in whole seconds, or DefaultTTL if it is 0. The client stays the caller's; ctx is for New
// alone.
func New(ctx context.Context, client *clientv3.Client, ttl time.Duration) (*Store, error) {
	if ttl == 0 {
		ttl = DefaultTTL
	}
	lease, err := client.Grant(ctx, max(1, int64(ttl/time.Second)))
	if err != nil {
		return nil, fmt.Errorf("etcd: a lease: %w", err)
	}
	alive, stop := context.WithCancel(context.WithoutCancel(ctx))
	beats, err := client.KeepAlive(alive, lease.ID)
	if err != nil {
		stop()
		return nil, fmt.Errorf("etcd: keeping the lease: %w", err)
	}
	s := &Store{client, lease.ID, stop, make(chan struct{})}
	go func() {
		defer close(s.done)
		for range beats { // nobody needs to know; when the lease is lost, Set fails
		}
	}()
	return s, nil
}

// Set sets or replaces a value.
func (s *Store) Set(ctx context.Context, key string, value []byte) error {
	if err := fast.CheckStoreEntry(key, value); err != nil {
		return err
	}
	if _, err := s.client.Put(ctx, key, string(value), clientv3.WithLease(s.lease)); err != nil {
		return fmt.Errorf("etcd: setting %q: %w", key, err)
	}
	return nil
}

// Get waits for a value.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) {
	if err := fast.CheckStoreEntry(key, nil); err != nil {
		return nil, err
	}
	for {
		r, err := s.client.Get(ctx, key)
		if err != nil {
			return nil, waiting(ctx, key, err)
		}
		if len(r.Kvs) > 0 {
			return r.Kvs[0].Value, fast.CheckStoreEntry(key, r.Kvs[0].Value)
		}
		if err := s.watch(ctx, key, r.Header.Revision+1); err != nil {
			return nil, waiting(ctx, key, err)
		}
	}
}

// watch waits until the key changes at that revision or a later one. That the revision is known no more is a change
// too.
func (s *Store) watch(ctx context.Context, key string, revision int64) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	for r := range s.client.Watch(ctx, key, clientv3.WithRev(revision)) {
		if r.CompactRevision > 0 || len(r.Events) > 0 {
			return nil
		}
		if err := r.Err(); err != nil {
			return err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return errors.New("the watch has ended")
}

// waiting returns the error of a Get that ended with err, or with ctx.
func waiting(ctx context.Context, key string, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("etcd: waiting for %q: %w", key, err)
}

// Delete removes a value, if there is one.
func (s *Store) Delete(ctx context.Context, key string) error {
	if _, err := s.client.Delete(ctx, key); err != nil {
		return fmt.Errorf("etcd: deleting %q: %w", key, err)
	}
	return nil
}

// Close removes all that this process has set.
func (s *Store) Close() error {
	s.stop()
	<-s.done
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if _, err := s.client.Revoke(ctx, s.lease); err != nil {
		return fmt.Errorf("etcd: the lease: %w", err)
	}
	return nil
}
