package launchers

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestEtcd has the ranks meet at an etcd server.
func TestEtcd(t *testing.T) {
	needs(t, "etcd")
	p, address := here(t), fmt.Sprint("127.0.0.1:", freePort(t))
	dir, peers := t.TempDir(), fmt.Sprint("http://127.0.0.1:", freePort(t))
	p.daemon("etcd", "--data-dir", filepath.Join(dir, "data"), "--log-level=error",
		"--listen-client-urls=http://"+address, "--advertise-client-urls=http://"+address,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=default="+peers)
	meetAt(t, p, "etcd://"+address, address)
}

// TestRedis has the ranks meet at a Redis server.
func TestRedis(t *testing.T) {
	needs(t, "redis-server")
	p, port := here(t), fmt.Sprint(freePort(t))
	p.daemon("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir",
		t.TempDir())
	meetAt(t, p, "redis://127.0.0.1:"+port, "127.0.0.1:"+port)
}

// meetAt runs rollcall with a store that a server has, which listens at address.
func meetAt(t *testing.T, p *place, store, address string) {
	t.Helper()
	waitListening(t, address)
	key := secret(t)
	ranks := byHand(p, 3, func(rank int) []string {
		return []string{fmt.Sprint("COLL_RANK=", rank), "COLL_SIZE=3", "COLL_JOB=meeting", key}
	})
	wantAnswers(t, together(t, ranks, program("rollcall"), "-store", store), []int{0, 1, 2})
}
