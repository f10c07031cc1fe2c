package limits

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	found := make(map[string]int)
	for _, l := range Measure(t.Context(), nil) {
		found[l.Name]++
		if l.Refused != "" {
			t.Logf("%s: refused: %s", l.Name, l.Refused)
		} else if l.Value <= 0 || l.Unit != "GB/s" && l.Unit != "us" {
			t.Errorf("%+v", l)
		}
	}
	if levels := len(memoryLevels()) * len(CoreCounts()); found["copy"] != levels || found["reduce"] != levels {
		t.Errorf("%v, want %d of copy and reduce", found, levels)
	}
	for _, p := range probes[1:] {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(found)),
			func(name string) bool { return strings.HasPrefix(name, p.name) }) {
			t.Errorf("there is nothing of %s: %v", p.name, found)
		}
	}
}

// TestStreamEnds: when the receiver of a stream fails, the sender does not wait for ever.
func TestStreamEnds(t *testing.T) {
	a, b, err := loopback()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := streams(t.Context(), a, b, 1<<20); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// TestCacheLevels reads the description of caches by Linux.
func TestCacheLevels(t *testing.T) {
	dir := t.TempDir()
	for index, c := range []struct{ level, kind, size, cores string }{
		{"1", "Data", "48K", "0"}, {"1", "Instruction", "32K", "0"}, {"2", "Unified", "1024K", "0-1"},
		{"3", "Unified", "32768K", "0-3,8,10-11"},
	} {
		index := filepath.Join(dir, "index"+string(rune('0'+index)))
		if err := os.Mkdir(index, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"level": c.level, "type": c.kind, "size": c.size,
			"shared_cpu_list": c.cores} {
			if err := os.WriteFile(filepath.Join(index, name), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []level{{"L1", 48 << 10, 1}, {"L2", 1 << 20, 2}, {"L3", 32 << 20, 7}}
	if got := cacheLevels(dir); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := cacheLevels(t.TempDir()); got != nil {
		t.Errorf("%v of nothing", got)
	}
	for _, test := range []struct{ level, cores, want int }{
		{0, 1, 8 << 10}, {0, 8, 8 << 10}, {1, 1, 256 << 10}, {1, 8, 128 << 10}, {2, 4, 2 << 20},
	} {
		if got := want[test.level].operand(test.cores); got != test.want {
			t.Errorf("%s on %d cores: %d, want %d", want[test.level].name, test.cores, got, test.want)
		}
	}
}
