package device

import (
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/rdma"
)

// TestKnownSoon: a rank that only waits knows within two seconds that its peer is gone, also where a device waits four
// times as long as it is told for each try.
func TestKnownSoon(t *testing.T) {
	r := (&Options{}).retry()
	if most := rdma.ProbeInterval + linkbase.MaxSleep + time.Duration(r.Count+1)*4*r.Try(); most >= 2*time.Second {
		t.Errorf("it is known after %v", most)
	}
}

// TestTimeout: times are rounded up to what devices have.
func TestTimeout(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{
		0: 67_108_864, 1: 8192, 8192: 8192, 8193: 16384, time.Millisecond: 1_048_576, 67_108_864: 67_108_864,
		maxTimeout: 17_179_869_184,
	} {
		if got := (&Options{Timeout: asked}).retry().Try(); got != want {
			t.Errorf("%v is %v, want %v", asked, got, want)
		}
	}
}
