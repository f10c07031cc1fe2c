package mesh

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// detector is a failure detector that tells failed processes from slow ones. Times are in nanoseconds.
//
// A peer is silent while nothing arrives from it, or while it reads nothing that is written to it. Time in which this
// process itself did not run does not count, nor does time in which it has not come to read what has arrived. A peer
// that is silent for too long is given up, unless the system reports that it runs or waits for a processor: then it has
// more time, but not unlimited.
type detector struct {
	timeout  int64                                        // the heartbeat timeout
	examine  func(pid int) (evidence, bool)               // asks the system about a process
	excuse   func(process int, silent int64, c condition) // warns that a process is slow
	last     atomic.Int64                                 // the time of the last look
	woke     atomic.Int64                                 // when it last noticed that this process had been stopped, or 0
	late     atomic.Int64                                 // how late looks have been lately
	examined int                                          // about how many processes it has asked the system in this look
	excused  int                                          // how many warnings it has logged since
	since    int64                                        // this time, which begins anew after each calm
}

const (
	turns       = 16 // looks per heartbeat timeout
	patience    = 16 // for how many heartbeat timeouts a slow process may be silent
	maxExamined = 8  // about how many peers the system is asked in one look; the others wait for the next
	maxAsleep   = 4  // how many times in a row a process has to be found asleep to be given up
)

// blocked is the least time for which writing may make no progress: retransmissions take time.
const blocked = int64(2 * time.Second)

// On a busy host, every process sees many slow ones at once. It logs at most maxWarnings in each warningPeriod.
const (
	maxWarnings   = 4
	warningPeriod = int64(10 * time.Second)
)

// rootCauseWait is how long a process that has a reason to fail waits for a better one from others.
const rootCauseWait = 100 * time.Millisecond

// look returns which of peers are given up, by condition. If this process itself was stopped for more than half of the
// heartbeat timeout, all peers start anew, because what they sent meanwhile may not have been read yet.
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
			p.writing.CompareAndSwap(writing, min(writing, 1)*now) // stays 0 if nothing is being written
		}
		// A slow process may not know of this connection yet, which another process has made. That one monitors it.
		if p.unmet.Load() && p.uncounted() && now-p.heard.Load() <= patience*v.timeout {
			continue
		}
		if c, up := v.check(p, now, late); up {
			if given == nil {
				given = make(map[condition][]int)
			}
			given[c] = append(given[c], p.process)
		}
	}
	return given
}

// uncounted reports whether p has counted no heartbeat yet.
func (p *peer) uncounted() bool {
	b := p.beats.Load()
	return b == nil || b.beaten() == 0
}

// stalled reports whether this process was stopped until just now. Meanwhile others may have given it up and ended, and
// it reads all that at once.
func (v *detector) stalled(now int64) bool {
	woke := v.woke.Load()
	return now-v.last.Load() > v.timeout/2 || woke > 0 && now-woke < int64(rootCauseWait)
}

// seeTaken lets what is being written to another host begin anew if that has taken some of it since the last look: a
// long frame may take a slow link longer than a process may be silent.
func (p *peer) seeTaken(now int64) {
	writing := p.writing.Load()
	if writing == 0 || p.tcp == nil {
		return
	}
	if n := acknowledged(p.tcp); n != p.taking {
		p.taking = n
		p.writing.CompareAndSwap(writing, now)
	}
}

// silentFor returns for how long p has been silent, without the time that does not count. Late is how late this look
// is; slack is how much longer p may take to read than to send.
func (p *peer) silentFor(now, late, slack int64) int64 {
	p.readCount(now)
	p.seeTaken(now)
	if since := p.silentSince(slack); since != p.watched.since {
		p.watched = watched{since: since}
	}
	p.excused += late
	return now - p.watched.since - p.excused
}

// silentSince returns the time since which p has been silent.
func (p *peer) silentSince(slack int64) int64 {
	since := p.heard.Load()
	if writing := p.writing.Load(); writing > 0 {
		since = min(since, writing+slack)
	}
	return since
}

// readCount notes whether p has counted heartbeats since the last look.
func (p *peer) readCount(now int64) {
	if b := p.beats.Load(); b != nil && b.beaten() != p.beaten {
		p.beaten = b.beaten()
		p.late.Store(b.late().Load())
		p.heard.Store(now)
	}
}

// excuseDelay lets p's silence begin anew if it is this process that is late: it has not come to read what p has sent,
// or to notice that it may go on writing.
func (p *peer) excuseDelay(now int64) {
	readable, writable := p.ready()
	if readable {
		p.heard.Store(now)
	}
	if writing := p.writing.Load(); writable && writing > 0 {
		p.writing.CompareAndSwap(writing, now)
	}
}

// check reports whether p is given up, and its condition. The condition of a process of this host follows from two
// samples. The first is taken once half of the timeout has passed.
func (v *detector) check(p *peer, now, late int64) (c condition, up bool) {
	slack, pid := max(0, blocked-v.timeout), int(p.pid.Load())
	silent := p.silentFor(now, late, slack)
	limit := v.timeout + 2*min(max(0, p.late.Load()), patience/2*v.timeout)
	before := p.watched.sample
	if silent > limit {
		p.excuseDelay(now)
	}
	switch {
	case p.silentSince(slack) != p.watched.since:
		return unknown, false
	case silent <= v.timeout/2 || silent <= limit && (pid == 0 || before.at > 0):
		return unknown, false
	case pid == 0:
		return unknown, true
	case v.examined == maxExamined:
		return unknown, false
	}
	v.examined++
	e, known := v.examine(pid)
	p.watched.sample = sample{e, now}
	// If this process did not run since it read the count, p may be asleep because it has sent its heartbeat.
	p.readCount(now)
	if silent <= limit || known && before.at == 0 || p.silentSince(slack) != p.watched.since {
		return unknown, false
	}
	if known {
		c = p.watched.condition(before)
	}
	switch p.slept++; {
	case c == asleep && p.slept < maxAsleep:
		return c, false
	case !c.slow() || now-p.watched.since > patience*v.timeout:
		return c, true
	}
	p.slept = 0
	if !p.slow {
		v.warnSlow(p, now, c)
	}
	p.slow, p.excused = true, p.excused+v.timeout/4
	return c, false
}

// warnSlow logs a slow peer, unless there were too many.
func (v *detector) warnSlow(p *peer, now int64, c condition) {
	if now-v.since >= warningPeriod {
		v.since, v.excused = now, 0
	}
	if v.excused++; v.excused <= maxWarnings {
		v.excuse(p.process, now-p.watched.since, c)
	}
}

// cause returns the error of a process that is given up in a condition.
func (v *detector) cause(c condition) error {
	if c == gone {
		return fmt.Errorf("%w: the system has no such process any more", wire.ErrDied)
	}
	err := fmt.Errorf("%w: it has sent no heartbeat, or read nothing, for %v or longer", wire.ErrFrozen,
		time.Duration(v.timeout))
	if c != unknown {
		err = fmt.Errorf("%w, and is %s", err, c)
	}
	return err
}

// observeTime is the time between two samples that show what processes do.
const observeTime = 100 * time.Millisecond

// observe returns the conditions of processes, after observeTime.
func observe(pids []int) []condition {
	first, at := make([]sample, len(pids)), time.Now()
	for i, pid := range pids {
		if e, known := examine(pid); known {
			first[i] = sample{e, 1}
		}
	}
	time.Sleep(observeTime)
	found := make([]condition, len(pids))
	for i, pid := range pids {
		if e, known := examine(pid); known && first[i].at > 0 {
			found[i] = sample{e, 1 + int64(time.Since(at))}.conditionAtRest(first[i])
		}
	}
	return found
}
