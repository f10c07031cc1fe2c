package limits

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/collgen/collgen/internal/figures"
)

// level is a level of the memory: a cache, or DRAM.
type level struct {
	name    string
	bytes   int
	sharers int // cores that share it
}

// usualLevels are assumed if the system does not describe its caches.
var usualLevels = []level{{"L1", 32 << 10, 1}, {"L2", 1 << 20, 1}, {"L3", 32 << 20, 1 << 10}}

// memoryLevels returns all levels, the fastest first.
func memoryLevels() []level {
	levels := cacheLevels("/sys/devices/system/cpu/cpu0/cache")
	if levels == nil {
		levels = usualLevels
	}
	return append(levels, level{name: "DRAM"})
}

// operand returns the size of each of a core's two operands, so that the operands of all cores fit this level, but not
// the one before.
func (l *level) operand(cores int) int {
	if l.bytes == 0 {
		return 64 << 20
	}
	return powerOfTwo(l.bytes / min(cores, l.sharers) / 4)
}

// powerOfTwo returns the largest power of two up to n, but at least a cache line.
func powerOfTwo(n int) int {
	p := 64
	for p <= n/2 {
		p *= 2
	}
	return p
}

// cacheLevels returns the data caches that a directory of Linux describes, in order; nil if it has no description.
func cacheLevels(dir string) (levels []level) {
	indexes, _ := filepath.Glob(filepath.Join(dir, "index*")) // the pattern is valid
	for _, index := range indexes {
		if kind := fileText(index, "type"); kind != "Data" && kind != "Unified" {
			continue
		}
		var bytes figures.Size
		if err := bytes.Set(fileText(index, "size")); err != nil || bytes == 0 {
			return nil
		}
		levels = append(levels, level{"L" + fileText(index, "level"), int(bytes),
			coresIn(fileText(index, "shared_cpu_list"))})
	}
	slices.SortFunc(levels, func(a, b level) int { return strings.Compare(a.name, b.name) })
	return levels
}

// fileText returns the text of a file with one line; "" if there is none.
func fileText(dir, name string) string {
	text, _ := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(text))
}

// coresIn returns the number of cores in a list such as "0-3,8", at least 1.
func coresIn(list string) (n int) {
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
