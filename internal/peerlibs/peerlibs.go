// Package peerlibs says where libraries are that collgen is compared with.
package peerlibs

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
)

// Placed returns words with two paths put in: that of the folder of MPI libraries of PyPI, which
// verify/colltest/adapters/install fetches, in place of {peers}, and that of a Python that may have torch, in place of
// {python}. It is the value of COLLGEN_PEERS_PYTHON, or else python3.
func Placed(words ...string) (all []string) {
	peers := os.Getenv("COLLGEN_PEERS_CACHE")
	if peers == "" {
		cache, _ := os.UserCacheDir() // "": the libraries are not found, which is said
		peers = filepath.Join(cache, "collgen-peers")
	}
	r := strings.NewReplacer("{peers}", peers, "{python}", cmp.Or(os.Getenv("COLLGEN_PEERS_PYTHON"), "python3"))
	for _, word := range words {
		all = append(all, r.Replace(word))
	}
	return all
}
