package mesh

import (
	"bytes"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestManyProcesses prints what a control plane of many processes costs.
func TestManyProcesses(t *testing.T) {
	n := 64
	if raceDetector || testing.Short() {
		n = 16
	}
	before, heap := runtime.NumGoroutine(), inUse()
	start := time.Now()
	job := newJob(t, n, nil)
	took := time.Since(start)
	ends := n * (n - 1) // each process has one for each other
	// The rest is what comes with a process, and handshakes that are about to end.
	eventually(t, func() bool { return runtime.NumGoroutine()-before <= 2*ends+8*n })
	t.Logf("%d processes have joined in %v; each has %.1f goroutines and %d KiB for each other", n,
		took.Round(time.Millisecond), float64(runtime.NumGoroutine()-before)/float64(ends), (inUse()-heap)/ends>>10)
	job[0].Send(n-1, topic(1), nil)
	if _, err := job[n-1].Receive(soon(t), topic(1)); err != nil {
		t.Error(err)
	}
}

// inUse returns the memory that this program uses, in bytes, once what it does not need is freed.
func inUse() int {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int(s.HeapInuse + s.StackInuse)
}

// page is what a process logs.
type page struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *page) lines() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Count(p.text.String(), "\n")
}

// TestGivenUpByAll: a process that all others have given up says so once.
func TestGivenUpByAll(t *testing.T) {
	const n = 5
	var pages [n]page
	job := newJob(t, n, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&pages[c.Identity.Process], nil)) })
	for _, m := range job[1:] {
		m.giveUp([]int{0}, wire.ErrFrozen, "it is a test")
		m.giveUp([]int{0}, wire.ErrFrozen, "it is a test")
	}
	for p := range n {
		eventually(t, func() bool { return job[0].Down(p) != nil })
	}
	for p := range pages {
		if got := pages[p].lines(); got != 1 {
			t.Errorf("process %d logs %d lines:\n%s", p, got, pages[p].text.String())
		}
	}
}
