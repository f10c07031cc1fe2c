package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/collgen/collgen/internal/figures"
)

// limit is a line of collperf -limits: what the machine can do at best.
type limit struct {
	Name    string  `json:"limit"`
	Where   string  `json:"where"`
	Bytes   int     `json:"bytes"`
	Cores   int     `json:"cores"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Refused string  `json:"refused,omitempty"`
}

// limits are the best values that were found of all limits in a round.
type limits []limit

// measureLimits has collperf measure.
func (w *workshop) measureLimits(ctx context.Context) (limits, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, longest, errTooLong)
	defer cancel()
	command := append(w.onCores(), w.programs[ours], "-limits", "-format", "json")
	printed, err := run(ctx, command, w.env(contest{}, nil))
	if err != nil {
		return nil, err
	}
	return parseLimits(printed)
}

func parseLimits(printed []byte) (all limits, err error) {
	lines := bufio.NewScanner(bytes.NewReader(printed))
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		var l limit
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("a line that is no limit: %w", err)
		}
		all = all.merge(limits{l})
	}
	return all, lines.Err()
}

// merge keeps the better value of each limit: a limit is what can be reached.
func (l limits) merge(more limits) limits {
	for _, m := range more {
		if m.Refused != "" || !(m.Value > 0) || math.IsInf(m.Value, 0) {
			continue
		}
		if old := l.find(func(o *limit) bool { return o.Name == m.Name && o.Where == m.Where && o.Cores == m.Cores }); old != nil {
			if better := m.Value > old.Value; better == (m.Unit == "GB/s") {
				*old = m
			}
			continue
		}
		l = append(l, m)
	}
	return l
}

func (l limits) find(is func(*limit) bool) *limit {
	for i := range l {
		if is(&l[i]) {
			return &l[i]
		}
	}
	return nil
}

// moves are how many bytes all ranks together have to add and to copy at least, in units of the size, for n ranks.
// Nobody adds what another one has added, and the sums are copied to those who have not.
var moves = map[string]func(n float64) (added, copied float64){
	"all-reduce":     func(n float64) (float64, float64) { return n - 1, n - 1 },
	"reduce-scatter": func(n float64) (float64, float64) { return n - 1, 0 },
	"broadcast":      func(n float64) (float64, float64) { return 0, n - 1 },
	"all-gather":     func(n float64) (float64, float64) { return 0, n - 1 },
	"all-to-all":     func(n float64) (float64, float64) { return 0, n - 1 },
	"ping-pong":      func(float64) (float64, float64) { return 0, 1 },
	"barrier":        func(float64) (float64, float64) { return 0, 0 },
}

// limitCores is on how many cores the limits are measured, and contests take place.
const limitCores = 2

// least returns the shortest time of a contest that the limits allow, in microseconds: as long as hearing from each
// other takes, and as long as the bytes take two threads without a protocol, of which each writes to no other rank's
// operands, in memory that the ranks can read of each other, if it is registered; or, where that is not known, as long
// as all bytes take on both cores. 0: the limits for it are not known.
func (l limits) least(c contest, registered bool) float64 {
	if bare := l.bare(c, registered); bare > 0 {
		return max(l.heard(c), bare)
	}
	added, copied := moves[c.Collective](float64(c.Ranks))
	size := float64(c.Bytes) / 1e3 // divided by GB/s, these are microseconds
	if c.Transport == "tcp" {
		message, stream := l.find(named("tcp message", "loopback, spinning")), l.find(named("tcp stream", "loopback"))
		if message == nil || stream == nil {
			return 0
		}
		if crossing := l.crossing(c.Bytes); crossing > 0 && c.Collective == "all-reduce" && c.Ranks == 2 {
			return crossing
		}
		// What is added has crossed the wire as well.
		return max(message.Value, size*(added+copied)/stream.Value)
	}
	heard, adds, copies := l.heard(c), l.memory("reduce", c.Ranks*c.Bytes), l.memory("copy", c.Ranks*c.Bytes)
	if heard == 0 || adds == nil || copies == nil {
		return 0
	}
	return max(heard, size*added/adds.Value+size*copied/copies.Value)
}

// bare returns how long a contest takes without any protocol, in shared memory. 0: it is not known.
func (l limits) bare(c contest, registered bool) float64 {
	if c.Transport != "shm" {
		return 0
	}
	name, where := "bare "+c.Collective, fmt.Sprintf("%d ranks, %s", c.Ranks, figures.Size(c.Bytes))
	if c.TwoBuffers {
		name += ", two buffers"
	}
	if registered {
		where += ", registered"
	}
	return l.value(named(name, where))
}

// crossing returns how long two ranks take to send each other so many bytes over TCP, both ways at once, which they do
// in any all-reduce: each has to hear of all that the other one has. 0: it is not known.
func (l limits) crossing(bytes int) float64 {
	var closest limit // of those that are not longer
	for _, m := range l {
		if m.Name == "tcp exchange" && m.Bytes <= bytes && m.Bytes >= closest.Bytes {
			closest = m
		}
	}
	return closest.Value * float64(max(1, bytes/mib))
}

// heard returns how long it takes in shared memory until the ranks have heard from each other: one line if only one has
// something to say, lines that cross if all have; and with more ranks than cores, until all have had their turns.
func (l limits) heard(c contest) float64 {
	if c.Collective == "broadcast" || c.Collective == "ping-pong" {
		return l.value(named("cache line", "between cores"))
	}
	turns := (c.Ranks+limitCores-1)/limitCores - 1
	return max(l.value(named("cache line", "both ways at once")), float64(turns)*l.value(named("switch", "on one core")))
}

func (l limits) value(is func(*limit) bool) float64 {
	if found := l.find(is); found != nil {
		return found.Value
	}
	return 0
}

func named(name, where string) func(*limit) bool {
	return func(l *limit) bool { return l.Name == name && l.Where == where }
}

// memory returns how fast two cores go through memory in which so many bytes of all ranks have room. Bytes of another
// core come from the last cache at best. What it was measured with is two operands on each core that fill half of it.
func (l limits) memory(name string, bytes int) (found *limit) {
	for _, where := range []string{"L3", "DRAM"} {
		if found = l.find(func(l *limit) bool { return l.Name == name && l.Where == where && l.Cores == limitCores }); found != nil &&
			bytes <= 2*2*limitCores*found.Bytes {
			break
		}
	}
	return found
}
