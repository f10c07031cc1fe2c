package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	goredis "github.com/redis/go-redis/v9"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/store/etcd"
	"github.com/collgen/collgen/store/redis"
)

// options returns those of Init: the environment's, and a store that a server has, if there is an address. done closes
// the store.
func options(ctx context.Context, address string) (opts []fast.InitOption, done func() error, err error) {
	s, done, err := open(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	opts = fast.FromEnv()
	if s != nil {
		opts = append(opts, fast.WithStore(s))
	}
	return opts, done, nil
}

// open opens the store at an address.
func open(ctx context.Context, address string) (s fast.Store, done func() error, err error) {
	scheme, host, _ := strings.Cut(address, "://")
	switch {
	case address == "":
		return nil, func() error { return nil }, nil
	case scheme == "etcd":
		return openEtcd(ctx, host)
	case scheme == "redis":
		client := goredis.NewClient(&goredis.Options{Addr: host})
		return redis.New(client, 0), client.Close, nil
	}
	return nil, nil, fmt.Errorf("a store at %q, want etcd://host:port or redis://host:port", address)
}

func openEtcd(ctx context.Context, host string) (fast.Store, func() error, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + host}, Logger: zap.NewNop()})
	if err != nil {
		return nil, nil, err
	}
	s, err := etcd.New(ctx, client, 0)
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	return s, func() error { return errors.Join(s.Close(), client.Close()) }, nil
}
