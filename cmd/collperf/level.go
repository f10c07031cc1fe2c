package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/collgen/collgen/internal/figures"
)

// level is one of the memory: a cache, or what is behind all of them.
type level struct {
	name    string
	bytes   int
	sharers int // cores that have it together
}

// usualLevels are there where the system does not say.
var usualLevels = []level{{"L1", 32 << 10, 1}, {"L2", 1 << 20, 1}, {"L3", 32 << 20, 1 << 10}}

// memoryLevels returns all levels, the fastest first.
func memoryLevels() []level {
	levels := cacheLevels("/sys/devices/system/cpu/cpu0/cache")
	if levels == nil {
		levels = usualLevels
	}
	return append(levels, level{name: "DRAM"})
}

// operand returns how long each of two operands is that a core works on, so that those of all cores stay in the level,
// but not in the one before.
func (l *level) operand(cores int) int {
	if l.bytes == 0 {
		return 64 << 20
	}
	return powerOfTwo(l.bytes / min(cores, l.sharers) / 4)
}

// powerOfTwo returns the largest that is not more than n, but at least a cache line.
func powerOfTwo(n int) int {
	p := 64
	for p <= n/2 {
		p *= 2
	}
	return p
}

// cacheLevels returns the caches for data that a directory of Linux describes, in their order; nil if it does not.
func cacheLevels(dir string) (levels []level) {
	indexes, _ := filepath.Glob(filepath.Join(dir, "index*")) // of a pattern that is right
	for _, index := range indexes {
		if kind := fileText(index, "type"); kind != "Data" && kind != "Unified" {
			continue
		}
		var bytes figures.Size
		if err := bytes.Set(fileText(index, "size")); err != nil || bytes == 0 {
			return nil
		}
		levels = append(levels, level{"L" + fileText(index, "level"), int(bytes), listed(fileText(index, "shared_cpu_list"))})
	}
	slices.SortFunc(levels, func(a, b level) int { return strings.Compare(a.name, b.name) })
	return levels
}

// fileText returns the only line of a file, or nothing.
func fileText(dir, name string) string {
	text, _ := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(text))
}

// listed returns how many cores a list such as "0-3,8" has; at least 1.
func listed(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.Atoi(first)
		b, errB := strconv.Atoi(last)
		if errA == nil && errB == nil && a <= b {
			n += b - a + 1
		}
	}
	return max(1, n)
}
