package mesh

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

const second = int64(time.Second)

// TestVigil: a peer is silent or stuck after the time for it; after a stop of one's own, all begin anew.
func TestVigil(t *testing.T) {
	for name, x := range map[string]struct {
		last, now, heard, writing int64
		silent                    bool
		thenHeard, thenWriting    int64
	}{
		"lively":         {100, 101, 100, 0, false, 100, 0},
		"just in time":   {102, 102, 100, 0, false, 100, 0},
		"silent":         {103, 103, 100, 0, true, 100, 0},
		"stuck":          {103, 103, 103, 100, true, 103, 100},
		"writing":        {102, 103, 103, 102, false, 103, 102},
		"stopped":        {100, 110, 100, 0, false, 110, 0},
		"stopped, stuck": {100, 110, 100, 99, false, 110, 110},
	} {
		v, p := detector{timeout: 2*second + 1}, new(peer)
		v.last.Store(x.last * second)
		p.heard.Store(x.heard * second)
		p.writing.Store(x.writing * second)
		stopped := strings.HasPrefix(name, "stopped")
		before := v.stalled(x.now * second)
		silent := v.look(x.now*second, []*peer{p})
		if after := v.stalled(x.now*second + int64(rootCauseWait)/2); before != stopped || after != stopped ||
			v.stalled(x.now*second+int64(rootCauseWait)) {
			t.Errorf("%s: it was stopped: %v, %v after it has looked", name, before, after)
		}
		if (len(silent) > 0) != x.silent || p.heard.Load() != x.thenHeard*second || p.writing.Load() != x.thenWriting*second {
			t.Errorf("%s: silent %v, heard at %d, writing since %d", name, silent, p.heard.Load()/second,
				p.writing.Load()/second)
		}
	}
}

// watching has a detector look at a peer turn by turn, of which the system says what says does, until it gives it up.
// It returns after how many turns that is, the condition, and of what the detector has warned.
func watching(t *testing.T, p *peer, says func(turn int64) (evidence, bool), each func(v *detector, turn int64)) (
	given int64, c condition, warned []condition) {
	t.Helper()
	const turn = 2 * second / turns
	at := int64(0)
	v := detector{timeout: 2 * second, examine: func(int) (evidence, bool) { return says(at) },
		excuse: func(_ int, silent int64, c condition) {
			if want := at*turn - p.heard.Load(); silent != want {
				t.Errorf("it is warned of because it is silent for %d ns, want %d", silent, want)
			}
			warned = append(warned, c)
		}}
	for at = 1; at < 100*turns; at++ {
		if each != nil {
			each(&v, at)
		}
		for c := range v.look(at*turn, []*peer{p}) {
			return at, c, warned
		}
	}
	return 0, unknown, warned
}

// TestEvidence: a silent process of this host that runs, or wants to, is given up much later than one that does not,
// and is warned of. One that is stopped, asleep or gone is not excused, nor is one of which nothing is known.
func TestEvidence(t *testing.T) {
	always := func(e evidence) func(int64) (evidence, bool) { return func(int64) (evidence, bool) { return e, true } }
	const soon, late = turns + 2, patience*turns + turns/2
	for name, x := range map[string]struct {
		says    func(turn int64) (evidence, bool)
		least   int64
		most    int64
		want    condition
		warning condition
	}{
		"unknown": {func(int64) (evidence, bool) { return evidence{}, false }, turns, soon, unknown, unknown},
		"stopped": {always(evidence{stopped: true}), turns, soon, stopped, unknown},
		"gone":    {always(evidence{gone: true}), turns, soon, gone, unknown},
		"asleep": {always(evidence{used: time.Hour, faults: 9}), turns + maxAsleep - 1, soon + maxAsleep, asleep,
			unknown},
		"asleep at times": {func(turn int64) (evidence, bool) { return evidence{wants: turn%maxAsleep == 0}, true },
			patience * turns, late, starving, starving},
		"starving": {always(evidence{wants: true}), patience * turns, late, starving, starving},
		"running": {func(turn int64) (evidence, bool) {
			return evidence{used: time.Duration(turn * second / 10)}, true
		}, patience * turns, late, running, running},
		"busy": {func(turn int64) (evidence, bool) {
			return evidence{wants: true, used: time.Duration(turn * second / 8)}, true
		}, patience * turns, late, running, running},
		"in the kernel": {always(evidence{kept: true}), patience * turns, late, inKernel, inKernel},
		"swapping": {func(turn int64) (evidence, bool) { return evidence{faults: uint64(turn)}, true }, patience * turns,
			late, swapping, swapping},
		"starving, then stopped": {func(turn int64) (evidence, bool) {
			return evidence{wants: turn < 4*turns, stopped: turn >= 4*turns}, true
		}, 4 * turns, 4*turns + turns/2, stopped, starving},
	} {
		given, c, warned := watching(t, localPeer(0), x.says, nil)
		if given < x.least || given > x.most || c != x.want {
			t.Errorf("%s: given up at turn %d because it is %q, want %d to %d and %q", name, given, c, x.least, x.most, x.want)
		}
		if len(warned) > 1 || (len(warned) == 1) != (x.warning != unknown) || len(warned) == 1 && warned[0] != x.warning {
			t.Errorf("%s: it is warned of as %q, want %q", name, warned, x.warning)
		}
	}
}

// TestSlowAgain: a peer that is heard of after all is warned of once more when it is silent again.
func TestSlowAgain(t *testing.T) {
	p := localPeer(0)
	_, _, warned := watching(t, p, func(int64) (evidence, bool) { return evidence{wants: true}, true },
		func(_ *detector, turn int64) {
			if turn%(5*turns) == 0 {
				p.heard.Store(turn * 2 * second / turns)
			}
		})
	if len(warned) != 100/5 {
		t.Errorf("it is warned of %d times, want %d", len(warned), 100/5)
	}
}

// TestManySlow: of many peers that are slow at once a few are warned of, and a few others if they still come ten
// seconds later.
func TestManySlow(t *testing.T) {
	warned := map[int]bool{}
	v := detector{timeout: 2 * second, examine: func(int) (evidence, bool) { return evidence{wants: true}, true },
		excuse: func(process int, _ int64, _ condition) { warned[process] = true }}
	peers := make([]*peer, 3*maxWarnings)
	for i := range peers {
		peers[i] = localPeer(i)
	}
	count := func(from, to int64) int {
		for turn := from * turns / 2; turn < to*turns/2; turn++ {
			for i, p := range peers {
				if i >= 2*maxWarnings && turn < 11*turns/2 { // these become slow later
					p.heard.Store(turn * 2 * second / turns)
				}
			}
			if given := v.look(turn*2*second/turns, peers); len(given) > 0 {
				t.Fatalf("given up: %v", given)
			}
		}
		return len(warned)
	}
	if n := count(1, 10); n != maxWarnings {
		t.Errorf("%d are warned of, want %d", n, maxWarnings)
	}
	if n := count(10, 20); n != 2*maxWarnings {
		t.Errorf("ten seconds later %d are, want %d", n, 2*maxWarnings)
	}
}

// TestLateLooks: the time for which this process does not look does not count, be it too short for a stop. That it was
// late counts less and less once it looks in time.
func TestLateLooks(t *testing.T) {
	v, p := detector{timeout: 2 * second}, new(peer)
	for i := range int64(8) { // the peer says nothing for 7.2 s, of which this process has looked 8 times
		if given := v.look(i*second*9/10, []*peer{p}); len(given) > 0 {
			t.Fatalf("given up at look %d", i)
		}
	}
	if late := v.late.Load(); late < second/2 || late > second {
		t.Errorf("it has been late by %v", time.Duration(late))
	}
	for range 8 * turns {
		now := v.last.Load() + v.timeout/turns
		p.heard.Store(now)
		v.look(now, []*peer{p})
	}
	if late := v.late.Load(); late < second/16 || late > second/4 {
		t.Errorf("8 timeouts later, it has been late by %v", time.Duration(late))
	}
}

// TestLateSender: a process of another host that says how late it has been has more time, by twice that, and not more
// than patience allows.
func TestLateSender(t *testing.T) {
	for late, want := range map[int64]int64{0: turns, second / 4: turns + turns/4, second: 2 * turns,
		1 << 62: (patience + 1) * turns} {
		p := new(peer)
		p.late.Store(late)
		if given, c, _ := watching(t, p, nil, nil); given <= want || given > want+2 || c != unknown {
			t.Errorf("late by %v: given up at turn %d, %q, want %d", time.Duration(late), given, c, want+1)
		}
	}
}

// TestManySilent: of many that are silent at once, the system is asked of a few at each look, and all are given up in
// the end.
func TestManySilent(t *testing.T) {
	asked, peers := 0, make([]*peer, 50)
	for i := range peers {
		peers[i] = localPeer(i)
	}
	v := detector{timeout: 2 * second, examine: func(int) (evidence, bool) {
		asked++
		return evidence{stopped: true},
			true
	}}
	given := map[int]bool{}
	for turn := int64(1); turn < 4*turns && len(given) < len(peers); turn++ {
		asked = 0
		for _, processes := range v.look(turn*2*second/turns, peers) {
			for _, process := range processes {
				given[process] = true
				peers[process].heard.Store(1 << 62) // it is not asked of any more
			}
		}
		if asked > maxExamined {
			t.Fatalf("asked of %d", asked)
		}
	}
	if len(given) != len(peers) {
		t.Errorf("%d of %d are given up", len(given), len(peers))
	}
}

// TestCause: who is gone has died; all others that are given up are frozen, and the error says what they do.
func TestCause(t *testing.T) {
	v := detector{timeout: 2 * second}
	for c, want := range map[condition]error{gone: wire.ErrDied, stopped: wire.ErrFrozen, asleep: wire.ErrFrozen,
		unknown: wire.ErrFrozen} {
		err := v.cause(c)
		if !errors.Is(err, want) || want == wire.ErrFrozen && errors.Is(err, wire.ErrDied) || !strings.Contains(err.Error(),
			string(c)) && c != gone {
			t.Errorf("%q: %v", c, err)
		}
	}
}

// TestSpokenMeanwhile: a process that is heard of while the system is asked of it, because this process was kept from
// running just then, is not given up for what the system says.
func TestSpokenMeanwhile(t *testing.T) {
	p, count := localPeer(0), 0
	given, _, _ := watching(t, p, func(turn int64) (evidence, bool) {
		count++
		p.heard.Store(turn * 2 * second / turns)
		return evidence{stopped: true}, true
	}, nil)
	if given != 0 || count == 0 {
		t.Errorf("given up at turn %d, examined %d times", given, count)
	}
}

// localPeer returns a peer that is process 7 of this host.
func localPeer(process int) *peer {
	p := &peer{process: process}
	p.pid.Store(7)
	return p
}
