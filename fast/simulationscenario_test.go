package fast

import (
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/collgen/collgen/fast/internal/simnet"
)

// scenario is what a seed stands for.
type scenario struct {
	seed     uint64
	size     int
	weather  simnet.Weather
	lag      time.Duration // a link is there for its higher rank so much later than for the other one, as after a handshake
	calls    []simulatedCall
	patience map[[2]int]time.Duration // of a call, by its number and the process
	faults   []fault
}

// fault is something that befalls the job.
type fault struct {
	kind    string
	at      time.Duration
	process int
	other   int
	lasts   time.Duration
	reset   func() bool
}

// The kinds of faults.
const (
	crashes    = "crashes"
	stops      = "stops for good"
	hesitates  = "stops for a moment" // too short to be taken for dead
	oversleeps = "stops for too long"
	breaks     = "breaks the data link" // to other
	parts      = "breaks the control link"
	slow       = "is slow"
	corrupts   = "changes a bit of what it sends to each other one" // what no job has to survive
)

func (f *fault) strike(x *simulation) {
	p := x.processes[f.process]
	switch f.kind {
	case crashes:
		p.Crash(f.reset)
	case stops:
		p.Stop()
	case hesitates, oversleeps:
		p.Stop()
		time.AfterFunc(f.lasts, p.Continue)
	case breaks:
		x.mu.Lock()
		if len(x.data) > 0 {
			defer x.data[f.other%len(x.data)].Reset()
		}
		x.mu.Unlock()
	case parts:
		x.control[f.process][(f.process+1+f.other%(x.size-1))%x.size].Reset()
	case corrupts:
		x.mu.Lock()
		defer x.mu.Unlock()
		for _, end := range x.data {
			end.Corrupt()
		}
	case slow:
		p.Delay(f.lasts)
	}
}

// newScenario draws one.
func newScenario(seed uint64) (s scenario) {
	r := rand.New(rand.NewPCG(seed, 1))
	s = scenario{seed: seed, size: 2 + r.IntN(4), patience: map[[2]int]time.Duration{}}
	s.weather = simnet.Weather{Delay: time.Duration(1 + r.IntN(1<<uint(10+r.IntN(15)))), Capacity: 1 << uint(6+r.IntN(12)), Pieces: r.IntN(4) > 0}
	s.lag = time.Duration(rand.New(rand.NewPCG(seed, 300)).Int64N(int64(20 * s.weather.Delay)))
	for range 1 + r.IntN(6) {
		s.calls = append(s.calls, drawCall(r, s.size))
	}
	if more := rand.New(rand.NewPCG(seed, 200)); more.IntN(3) == 0 { // what was drawn of a seed before there was this stays
		defer func() { s.calls = append(s.calls, simulatedCall{name: "Pass", count: more.IntN(1 << 10)}) }()
	}
	expected := s.weather.Delay * time.Duration(10*len(s.calls)*bits.Len(uint(s.size)))
	if r.IntN(8) == 0 {
		s.patience[[2]int{r.IntN(len(s.calls)), r.IntN(s.size)}] = 1 + time.Duration(r.Int64N(int64(expected)))
	}
	for i := range []int{0, 1, 1, 1, 1, 2, 3}[r.IntN(7)] {
		chance := rand.New(rand.NewPCG(seed, uint64(100+i)))
		f := fault{kind: []string{crashes, crashes, stops, hesitates, oversleeps, breaks, parts, slow}[r.IntN(8)],
			at: time.Duration(r.Int64N(int64(expected))), process: r.IntN(s.size), other: r.IntN(64),
			reset: func() bool { return chance.IntN(2) == 0 }}
		switch f.kind {
		case hesitates:
			f.lasts = time.Duration(r.Int64N(int64(simulatedFreeze / 3)))
		case oversleeps:
			f.lasts = 2*simulatedFreeze + time.Duration(r.Int64N(int64(simulatedFreeze*8)))
		case slow:
			f.lasts = time.Duration(r.Int64N(int64(simulatedFreeze / 250)))
		}
		s.faults = append(s.faults, f)
	}
	return s
}

func drawCall(r *rand.Rand, size int) simulatedCall {
	c := simulatedCall{name: simulatedCalls[r.IntN(len(simulatedCalls))],
		count: r.IntN(1 << uint(r.IntN(11))), root: r.IntN(size)}
	k := collectiveOf(c.name)
	if k == nil { // a send and a receive
		return c
	}
	if a := &k.Algorithms[r.IntN(len(k.Algorithms))]; r.IntN(2) == 0 && a.Carries(size, Sum) {
		c.options = []Option{WithAlgorithm(a.Name)}
	}
	return c
}
