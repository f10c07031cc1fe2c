//go:build linux

package shm

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestRoom is systems of both versions of cgroups, as files.
func TestRoom(t *testing.T) {
	const meminfo = "MemTotal:       1000 kB\nMemAvailable:    500 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing is said": {nil, math.MaxInt64},
		"no cgroups":      {map[string]string{"proc/meminfo": meminfo}, 500 << 10},
		"no limit": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n",
			"cg/a/memory.max": "max\n", "cg/a/memory.current": "1000\n"}, 500 << 10},
		"version 2": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"cg/a/b/memory.max": "3000\n", "cg/a/b/memory.current": "1000\n",
			"cg/a/b/memory.stat": "inactive_files 7\ninactive_file 300\n"}, 2300},
		"the group above has less": {map[string]string{"proc/self/cgroup": "0::/a/b\n",
			"cg/a/b/memory.max": "3000\n", "cg/a/b/memory.current": "1000\n",
			"cg/a/memory.max": "4000\n", "cg/a/memory.current": "3500\n"}, 500},
		"a container sees its own group as the top": {map[string]string{"proc/self/cgroup": "0::/../x\n",
			"cg/memory.max": "4000\n", "cg/memory.current": "3500\n"}, 500},
		"version 1": {map[string]string{"proc/self/cgroup": "8:pids:/\n4:memory:/a\n0::/\n",
			"cg/memory/a/memory.limit_in_bytes": "3000\n", "cg/memory/a/memory.usage_in_bytes": "2000\n",
			"cg/memory/a/memory.stat": "cache 5\ntotal_inactive_file 30\n"}, 1030},
		"nonsense": {map[string]string{"proc/meminfo": "MemAvailable:\nMemAvailable", "proc/self/cgroup": "::\n:\n\nmemory",
			"cg/memory.max": "", "cg/memory.current": "x"}, math.MaxInt64},
	} {
		top := t.TempDir()
		for file, text := range c.files {
			file = filepath.Join(top, file)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := memoryLeft(filepath.Join(top, "proc"), filepath.Join(top, "cg")); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if n := memoryLeft("/proc", "/sys/fs/cgroup"); n < 1<<20 {
		t.Errorf("here: %d", n)
	}
}
