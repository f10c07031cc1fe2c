//go:build linux

package shm

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// allowance is how much memory this process may still take. Finding that out takes longer than anything else that a new
// communicator does.
type allowance struct {
	mu    sync.Mutex
	left  int64
	asked time.Time // when the system was asked last
	ask   func() int64
}

// spare is the allowance of this process. Tests replace ask.
var spare = allowance{ask: func() int64 { return memoryLeft("/proc", "/sys/fs/cgroup") }}

// The last answer of the system is reused for this long, provided that it is this many times what is wanted now, as
// other processes take memory as well.
const (
	believed = time.Second
	plenty   = 64
)

// take takes n bytes off the allowance, or returns an error if fewer are left.
func (a *allowance) take(n int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := time.Now(); now.Sub(a.asked) > believed || n > a.left/plenty {
		a.left, a.asked = a.ask(), now
	}
	if n < 0 || n > a.left {
		return fmt.Errorf("%w: only %d KiB are left", unix.ENOMEM, a.left>>10)
	}
	a.left -= n
	return nil
}

// memoryLeft returns how many bytes of memory the machine and this process's memory cgroups have left. Taking more is
// not an error there, but kills some process. proc and cgroup are the mount points to read; limits that cannot be read
// count as enough.
func memoryLeft(proc, cgroup string) int64 {
	left := int64(math.MaxInt64)
	if kib, ok := field(path.Join(proc, "meminfo"), "MemAvailable:"); ok {
		left = kib << 10
	}
	groups, _ := os.ReadFile(path.Join(proc, "self/cgroup"))
	for line := range strings.Lines(string(groups)) { // number:controllers:path
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(f) < 3:
		case f[1] == "": // version 2, alone or beside version 1
			for _, top := range []string{cgroup, path.Join(cgroup, "unified")} {
				left = min(left, cgroupLeft(top, f[2], "memory.max", "memory.current", "inactive_file"))
			}
		case f[1] == "memory":
			left = min(left, cgroupLeft(path.Join(cgroup, "memory"), f[2],
				"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"))
		}
	}
	return left
}

// cgroupLeft returns how many bytes the limits of a cgroup and its ancestors leave. Its page cache counts as free.
func cgroupLeft(top, group, limit, usage, files string) int64 {
	left := int64(math.MaxInt64)
	for p := path.Clean("/" + group); ; p = path.Dir(p) {
		dir := path.Join(top, p)
		most, limited := field(path.Join(dir, limit), "")
		used, ok := field(path.Join(dir, usage), "")
		if limited && ok {
			cached, _ := field(path.Join(dir, "memory.stat"), files)
			left = min(left, most-used+cached)
		}
		if p == "/" {
			return left
		}
	}
}

// field returns the number after a name in a file, or at its beginning if name is empty. There is none if a limit is
// "max".
func field(file, name string) (int64, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(b) {
		rest, ok := bytes.CutPrefix(line, []byte(name))
		f := bytes.Fields(rest)
		if !ok || len(f) == 0 || (name != "" && rest[0] != ' ') {
			continue
		}
		n, err := strconv.ParseInt(string(f[0]), 10, 64)
		return n, err == nil
	}
	return 0, false
}
