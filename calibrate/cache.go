package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// here is where Linux describes the caches of a core of this machine.
const here = "/sys/devices/system/cpu/cpu0/cache"

// usual are the sizes of caches where the system does not tell: for each core, of the first, the second and the last.
var usual = []int{32 << 10, 1 << 20, 16 << 20}

// beyond is at how many times the last cache a byte costs what memory does.
const beyond = 4

// ratePoints returns the sizes, for each core, at which a byte gets a price: those of the caches, and one that fits
// none.
func ratePoints(caches []int) []int {
	if len(caches) == 0 {
		caches = usual
	}
	return append(caches[:len(caches):len(caches)], beyond*caches[len(caches)-1])
}

// cachesOf returns the sizes of a core's caches for data, the first one first, as Linux describes them in dir: of one
// that cores share, its part. None, if they are not told, or not each larger than the one before.
func cachesOf(dir string) (sizes []int) {
	for i := 0; ; i++ {
		index := filepath.Join(dir, "index"+strconv.Itoa(i))
		kind, err := os.ReadFile(filepath.Join(index, "type"))
		if err != nil {
			return sizes
		}
		if strings.TrimSpace(string(kind)) == "Instruction" {
			continue
		}
		size, err := cachePart(index)
		if err != nil || len(sizes) > 0 && size <= sizes[len(sizes)-1] {
			return nil
		}
		sizes = append(sizes, size)
	}
}

// cachePart returns the size of a cache, over how many cores share it.
func cachePart(index string) (int, error) {
	size, err := os.ReadFile(filepath.Join(index, "size"))
	if err != nil {
		return 0, err
	}
	shared, err := os.ReadFile(filepath.Join(index, "shared_cpu_list"))
	if err != nil {
		return 0, err
	}
	kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(string(size)), "K"))
	if err != nil || kib < 1 || kib > 1<<30 {
		return 0, fmt.Errorf("a cache of %q", size)
	}
	cores, err := listed(strings.TrimSpace(string(shared)))
	return kib << 10 / max(1, cores), err
}

// listed returns how many numbers a list such as 0-3,8 has.
func listed(list string) (n int, err error) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && isRange {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 0 || to < from || to > 1<<20 {
			return 0, fmt.Errorf("a list of processors %q", list)
		}
		n += to - from + 1
	}
	return n, nil
}
