package main

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast"
)

// options are those of Init: the environment's, and a store that a server holds. done closes the store.
func options(ctx context.Context, address string) (opts []fast.InitOption, done func(), err error) {
	opts, done = fast.FromEnv(), func() {}
	if address != "" {
		return nil, nil, fmt.Errorf("there is no store for %s", address)
	}
	return opts, done, nil
}
