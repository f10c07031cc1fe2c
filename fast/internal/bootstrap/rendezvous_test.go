package bootstrap

import (
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/store"
)

// TestKeys of different jobs and attempts differ, and none is too long for a store.
func TestKeys(t *testing.T) {
	seen := make(map[string]bool)
	names := []string{"", "a", "a/0", "A", strings.Repeat("x", 80), strings.Repeat("x", 81), strings.Repeat("ä", 300)}
	for _, job := range names {
		for epoch := range uint32(2) {
			for process := range 2 {
				key := (&Config{Job: job, Epoch: epoch}).keys()("addresses", process)
				if seen[key] || len(key) > store.MaxKey-20 {
					t.Errorf("%q twice, or too long", key)
				}
				seen[key] = true
			}
		}
	}
	if len(seen) != 4*len(names) {
		t.Error(seen)
	}
}
