package store_test

import (
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/store"
	"github.com/collgen/collgen/fast/storetest"
)

func TestPromises(t *testing.T) {
	for name, world := range store.Worlds {
		t.Run(name, func(t *testing.T) {
			storetest.TestStore(t, func(t *testing.T) (one, two fast.Store) { return world(t) })
		})
	}
}
