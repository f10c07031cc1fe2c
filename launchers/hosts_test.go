//go:build linux

package launchers

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestHosts is six ranks on three hosts: those on one share memory, and others talk over TCP.
func TestHosts(t *testing.T) {
	w := newNetwork(t, 3)
	p, key := here(t), secret(t)
	for name, store := range map[string]string{
		"IPv4":                   "tcp://10.77.0.1:29500",
		"IPv6":                   "tcp://[fd77::1]:29500",
		"a folder, and no store": folder(t),
	} {
		t.Run(name, func(t *testing.T) {
			var ranks []*place
			for rank := range 6 {
				ranks = append(ranks, p.on(w.hosts[rank/2]).with(fmt.Sprint("COLL_RANK=", rank), "COLL_SIZE=6",
					fmt.Sprint("COLL_LOCAL_RANK=", rank%2), "COLL_LOCAL_SIZE=2", "COLL_STORE="+store, key))
			}
			wantAnswers(t, together(t, ranks, program("rollcall")), []int{0, 1}, []int{2, 3}, []int{4, 5})
		})
	}
}

// TestTorchrunOnHosts sets torchrun's variables on three hosts, whose ranks are not in the order of hosts.
func TestTorchrunOnHosts(t *testing.T) {
	w := newNetwork(t, 3)
	p, key := here(t), secret(t)
	var ranks []*place
	for rank, h := range []int{0, 1, 2, 1, 0} {
		ranks = append(ranks, p.on(w.hosts[h]).with(fmt.Sprint("RANK=", rank), "WORLD_SIZE=5",
			"MASTER_ADDR="+address(0), "MASTER_PORT=29500", key))
	}
	wantAnswers(t, together(t, ranks, program("rollcall")), []int{0, 4}, []int{1, 3}, []int{2})
}

// TestPods are hosts as pods of an indexed job of Kubernetes: a headless service gives them names.
func TestPods(t *testing.T) {
	w := newNetwork(t, 3)
	p, key := here(t), secret(t)
	names := "127.0.0.1 localhost\n"
	for i := range w.hosts {
		names += fmt.Sprintf("%s train-%d.workers\n", address(i), i)
	}
	file := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(file, []byte(names), 0o600); err != nil {
		t.Fatal(err)
	}
	var ranks []*place
	for rank, h := range w.hosts {
		p.on(h).output("mount", "--bind", file, "/etc/hosts")
		ranks = append(ranks, p.on(h).with(fmt.Sprint("JOB_COMPLETION_INDEX=", rank), "COLL_SIZE=3",
			fmt.Sprint("HOSTNAME=train-", rank), "COLL_SERVICE=workers", key))
	}
	wantAnswers(t, together(t, ranks, program("rollcall")), []int{0}, []int{1}, []int{2})
}
