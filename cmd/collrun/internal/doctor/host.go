//go:build unix && !aix && !solaris

package doctor

import (
	"fmt"
	"math"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// system returns the host and its operating system.
func system() []Finding {
	kernel := "unknown"
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		kernel = unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
	}
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	return []Finding{
		{Name: "host", Value: name, Text: name},
		{Name: "system", Value: kernel, Text: fmt.Sprintf("%s, %s, %s", kernel, platform, runtime.Version())},
	}
}

// processors returns the processors that a rank may use, by its affinity and by the quota of its cgroup.
func processors() []Finding {
	allowed, used := runtime.NumCPU(), runtime.GOMAXPROCS(0)
	cores := Finding{Name: "cores", Value: allowed, Text: fmt.Sprint(allowed)}
	if used < allowed {
		cores.Warning = fmt.Sprintf("Go uses %d of them: GOMAXPROCS or a quota says so", used)
	}
	return append([]Finding{cores}, affinity()...)
}

// limit returns a resource limit of this process, also in words.
func limit(resource int) (current uint64, words string, err error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(resource, &l); err != nil {
		return 0, "", err
	}
	current, most := uint64(l.Cur), uint64(l.Max)
	if words = amount(current); current < most {
		words += ", at most " + amount(most)
	}
	return current, words, nil
}

// amount returns a limit in words.
func amount(n uint64) string {
	if n >= math.MaxInt64 { // each system has its own number for infinity
		return "unlimited"
	}
	return fmt.Sprint(n)
}

// fewFiles is a number of open files that suffices for a small job only. Every other rank takes one for control and, on
// another host, one for each communicator.
const fewFiles = 256

// openFiles returns how many files a rank may have open, connections included.
func openFiles() []Finding {
	n, words, err := limit(unix.RLIMIT_NOFILE)
	f := Finding{Name: "open files", Value: n, Text: words}
	switch {
	case err != nil:
		return []Finding{unknown(f.Name, err)}
	case n < fewFiles:
		f.Warning = "connections count as files: this is little for a job with many ranks (ulimit -n)"
	}
	return []Finding{f}
}

// lockedMemory returns how much memory a rank may lock.
func lockedMemory() []Finding {
	n, words, err := limit(unix.RLIMIT_MEMLOCK)
	if err != nil {
		return []Finding{unknown("memlock", err)}
	}
	return []Finding{{Name: "memlock", Value: n, Text: words + " bytes; only RDMA needs it"}}
}
