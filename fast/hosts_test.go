package fast

import (
	"strings"
	"testing"
)

// TestLocal: ranks on each host are counted only where they follow each other, and the last host alone has fewer.
func TestLocal(t *testing.T) {
	for hosts, want := range map[string]int{"a": 1, "aaaa": 4, "aabb": 2, "abcd": 1, "aabbc": 2, "aabbb": 0, "abab": 0, "abba": 0, "abb": 0, "aaba": 0, "aabbaa": 0} {
		w := &world{locate: func(process int) (host, link string) { return hosts[process : process+1], "tcp" }}
		processes := make([]int, len(hosts))
		for i := range processes {
			processes[i] = i
		}
		if got := w.local(processes); got != want {
			t.Errorf("%s: %d, want %d", hosts, got, want)
		}
	}
}

// TestTwoLevelNeedsHosts: an algorithm for equal hosts is refused by name on others, and no rule picks it.
func TestTwoLevelNeedsHosts(t *testing.T) {
	for local, want := range map[int]string{0: "hosts do not have equally many", 3: "does not serve 4 ranks, 3 on each host", 2: ""} {
		c := newComm(0, 4, nil)
		c.exec.Carrier, c.exec.PerHost, c.exec.Local = "mixed", max(local, 2), local
		q := Query{Collective: "AllReduce", Bytes: 1 << 20, Op: Sum}
		_, err := Explain(c, q, WithAlgorithm("two-level"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d on each host: %v, want %q", local, err, want)
		}
		x, err := Explain(c, q)
		if err != nil || (x.Algorithm == "two-level") != (want == "") {
			t.Errorf("%d on each host: %v, %v", local, x, err)
		}
	}
}
