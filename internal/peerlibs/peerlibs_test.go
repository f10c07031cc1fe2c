package peerlibs

import (
	"slices"
	"testing"
)

func TestPlaced(t *testing.T) {
	t.Setenv("COLLGEN_PEERS_PYTHON", "/python")
	for cache, want := range map[string]string{"/here": "/here/mpich", "": "/caches/collgen-peers/mpich"} {
		t.Setenv("XDG_CACHE_HOME", "/caches")
		t.Setenv("COLLGEN_PEERS_CACHE", cache)
		if got := Placed("{peers}/mpich", "A={python}", "-n"); !slices.Equal(got, []string{want, "A=/python", "-n"}) {
			t.Errorf("%q: %q", cache, got)
		}
	}
}
