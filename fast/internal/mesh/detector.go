package mesh

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// detector finds out who does not answer any more, and tells those from who is only slow. Times are in nanoseconds.
//
// A peer is silent as long as nothing is heard of it, or it reads nothing of what is written to it; for how long this
// process itself was kept from looking does not count. Who is silent for too long is given up, unless the system says
// that it runs or wants to: it has more time then, but not for ever.
type detector struct {
	timeout  int64                                        // how long a process may be silent
	examine  func(pid int) (evidence, bool)               // what the system says of one
	excuse   func(process int, silent int64, c condition) // warns of one that is excused
	last     atomic.Int64                                 // when it looked last
	woke     atomic.Int64                                 // when it found last that this process itself had been stopped; 0: never
	late     atomic.Int64                                 // by how much it has been late lately
	examined int                                          // how many it has asked the system of at this look
	excused  int                                          // how many it has excused since
	since    int64                                        // this time, which begins anew after each calm
}

const (
	turns        = 16 // how often the detector looks, in the time that a process may be silent
	patience     = 16 // for how many times that time it may be silent if it is slow
	mostExamined = 8  // of how many peers the system is asked at one look; others wait for the next
	sound        = 4  // how often in succession a process is found asleep that does not wake up any more
)

// blocked is how long writing may make no progress, at least: what the network loses costs some time.
const blocked = int64(2 * time.Second)

// On a crowded host many are slow at once, in the eyes of each of the others. A process warns of so many within a time.
const (
	mostWarned = 4
	calm       = int64(10 * time.Second)
)

// hearsay is how long a process that has a reason to fail waits for others.
const hearsay = 100 * time.Millisecond

// look returns who of peers is given up, by the condition that each is in. If this process itself was stopped for more
// than half of the time that they have, all have another chance, because what they said meanwhile may just not be read
// yet.
func (v *detector) look(now int64, peers []*peer) (given map[condition][]int) {
	gap := now - v.last.Load()
	stalled := gap > v.timeout/2
	if stalled {
		v.woke.Store(now)
	}
	v.last.Store(now)
	late, before := max(0, gap-2*v.timeout/turns), v.late.Load()
	v.late.Store(max(late, before-before/64))
	v.examined = 0
	for _, p := range peers {
		writing := p.writing.Load()
		if stalled {
			p.heard.Store(now)
			p.writing.CompareAndSwap(writing, min(writing, 1)*now) // still 0 if nothing is being written
		}
		// A slow process may not know yet of a connection that another one has made. That one watches over it.
		if p.unmet.Load() && p.beats.Load() == nil && now-p.heard.Load() <= patience*v.timeout {
			continue
		}
		if c, up := v.judge(p, now, late); up {
			if given == nil {
				given = make(map[condition][]int)
			}
			given[c] = append(given[c], p.process)
		}
	}
	return given
}

// stalled reports whether this process was stopped until just now. Others may have given it up, and ended since, all of
// which it reads now at once.
func (v *detector) stalled(now int64) bool {
	woke := v.woke.Load()
	return now-v.last.Load() > v.timeout/2 || woke > 0 && now-woke < int64(hearsay)
}

// silent is for how long p has been silent without an excuse. Late is for how long this process has not looked; slack
// is by how much longer p may take to read something than to say something.
func (p *peer) silent(now, late, slack int64) int64 {
	p.listen(now)
	if since := p.quietSince(slack); since != p.watched.since {
		p.watched = watched{since: since}
	}
	p.excused += late
	return now - p.watched.since - p.excused
}

// quietSince returns when p was silent no more.
func (p *peer) quietSince(slack int64) int64 {
	since := p.heard.Load()
	if writing := p.writing.Load(); writing > 0 {
		since = min(since, writing+slack)
	}
	return since
}

// listen takes note of heartbeats that p has counted since the last time.
func (p *peer) listen(now int64) {
	if b := p.beats.Load(); b != nil && b.beaten() != p.beaten {
		p.beaten = b.beaten()
		p.late.Store(b.late().Load())
		p.heard.Store(now)
	}
}

// judge reports whether p is given up, and its condition. That a process of this host is slow is seen from two samples,
// of which the first is taken in good time.
func (v *detector) judge(p *peer, now, late int64) (c condition, up bool) {
	slack, pid := max(0, blocked-v.timeout), int(p.pid.Load())
	silent := p.silent(now, late, slack)
	limit := v.timeout + 2*min(max(0, p.late.Load()), patience/2*v.timeout)
	before := p.watched.sample
	switch {
	case silent <= v.timeout/2 || silent <= limit && (pid == 0 || before.at > 0):
		return unknown, false
	case pid == 0:
		return unknown, true
	case v.examined == mostExamined:
		return unknown, false
	}
	v.examined++
	e, known := v.examine(pid)
	p.watched.sample = sample{e, now}
	p.listen(now) // if this process was kept from running since it has listened last, it is asleep because it has spoken
	if silent <= limit || known && before.at == 0 || p.quietSince(slack) != p.watched.since {
		return unknown, false
	}
	if known {
		c = p.watched.condition(before)
	}
	switch p.slept++; {
	case c == asleep && p.slept < sound:
		return c, false
	case !c.slow() || now-p.watched.since > patience*v.timeout:
		return c, true
	}
	p.slept = 0
	if !p.slow {
		v.excuses(p, now, c)
	}
	p.slow, p.excused = true, p.excused+v.timeout/4
	return c, false
}

// excuses has a slow peer warned of, if not too many have been.
func (v *detector) excuses(p *peer, now int64, c condition) {
	if now-v.since >= calm {
		v.since, v.excused = now, 0
	}
	if v.excused++; v.excused <= mostWarned {
		v.excuse(p.process, now-p.watched.since, c)
	}
}

// cause returns the error of who is given up in a condition.
func (v *detector) cause(c condition) error {
	if c == gone {
		return fmt.Errorf("%w: the system has no such process any more", wire.ErrDied)
	}
	err := fmt.Errorf("%w: it has sent no heartbeat, or read nothing, for %v or longer", wire.ErrFrozen, time.Duration(v.timeout))
	if c != unknown {
		err = fmt.Errorf("%w, and is %s", err, c)
	}
	return err
}

// glance is how long it takes to see what processes do.
const glance = 100 * time.Millisecond

// observe returns the condition of processes, within a glance.
func observe(pids []int) []condition {
	first, at := make([]sample, len(pids)), time.Now()
	for i, pid := range pids {
		if e, known := examine(pid); known {
			first[i] = sample{e, 1}
		}
	}
	time.Sleep(glance)
	found := make([]condition, len(pids))
	for i, pid := range pids {
		if e, known := examine(pid); known && first[i].at > 0 {
			found[i] = sample{e, 1 + int64(time.Since(at))}.condition(first[i])
		}
	}
	return found
}
