package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// limit is a line of collperf -limits: the best that the machine can do.
type limit struct {
	Name    string  `json:"limit"`
	Where   string  `json:"where"`
	Bytes   int     `json:"bytes"`
	Cores   int     `json:"cores"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Refused string  `json:"refused,omitempty"`
}

// limits are the best values of all limits in a round.
type limits []limit

func parseLimits(output []byte) (all limits, err error) {
	lines := bufio.NewScanner(bytes.NewReader(output))
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var l limit
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("a line is not a limit: %w", err)
		}
		all = all.merge(limits{l})
	}
	return all, lines.Err()
}

// merge keeps the better value of each limit, because a limit is what can be reached.
func (l limits) merge(more limits) limits {
	for _, m := range more {
		if m.Refused != "" || !(m.Value > 0) || math.IsInf(m.Value, 0) {
			continue
		}
		if old := l.find(func(o *limit) bool {
			return o.Name == m.Name && o.Where == m.Where &&
				o.Cores == m.Cores
		}); old != nil {
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

// value returns the value of a limit; 0: it is not known.
func (l limits) value(name, where string) float64 {
	if found := l.find(func(l *limit) bool { return l.Name == name && l.Where == where }); found != nil {
		return found.Value
	}
	return 0
}

// traffic has the least that all ranks together have to add and to copy, in units of the size, for n ranks. No rank
// adds what another one has added; the sums are copied to the ranks that do not have them.
var traffic = map[string]func(n float64) (added, copied float64){
	"all-reduce":     func(n float64) (float64, float64) { return n - 1, n - 1 },
	"reduce-scatter": func(n float64) (float64, float64) { return n - 1, 0 },
	"broadcast":      func(n float64) (float64, float64) { return 0, n - 1 },
	"all-gather":     func(n float64) (float64, float64) { return 0, n - 1 },
	"all-to-all":     func(n float64) (float64, float64) { return 0, n - 1 },
	"ping-pong":      func(float64) (float64, float64) { return 0, 1 },
	"barrier":        func(float64) (float64, float64) { return 0, 0 },
}

// limitCores is how many cores the limits are measured on, and the programs run on.
const limitCores = 2

// lowerBound returns the least time of a benchmark that the limits allow, in microseconds: the latency until all ranks
// have heard from each other, or the time to add and copy the bytes on both cores, whichever is longer. 0: the limits
// are not known.
func (l limits) lowerBound(b benchmark) float64 {
	added, copied := traffic[b.Collective](float64(b.Ranks))
	size := float64(b.Bytes) / 1e3 // divided by GB/s, these are microseconds
	if b.Transport == "tcp" {
		message, stream := l.value("tcp message", "loopback, spinning"), l.value("tcp stream", "loopback")
		if message == 0 || stream == 0 {
			return 0
		}
		if exchange := l.exchange(b.Bytes); exchange > 0 && b.Collective == "all-reduce" && b.Ranks == 2 {
			return exchange
		}
		return max(message, size*(added+copied)/stream) // what is added has crossed the wire as well
	}
	latency, adds, copies := l.latency(b), l.memory("reduce", b.Ranks*b.Bytes), l.memory("copy", b.Ranks*b.Bytes)
	if latency == 0 || adds == nil || copies == nil {
		return 0
	}
	return max(latency, size*added/adds.Value+size*copied/copies.Value)
}

// exchange returns how long two ranks take to send each other so many bytes over TCP at the same time. Any all-reduce
// of two ranks has to do that. 0: it is not known.
func (l limits) exchange(bytes int) float64 {
	var closest limit // of those that are not longer
	for _, m := range l {
		if m.Name == "tcp exchange" && m.Bytes <= bytes && m.Bytes >= closest.Bytes {
			closest = m
		}
	}
	return closest.Value * float64(max(1, bytes/mib))
}

// latency returns how long ranks take to hear from each other in shared memory. That is the way of one cache line if
// only one rank has data, and of two lines that cross otherwise. More ranks than cores all need their turns.
func (l limits) latency(b benchmark) float64 {
	if b.Collective == "broadcast" || b.Collective == "ping-pong" {
		return l.value("cache line", "between cores")
	}
	turns := (b.Ranks+limitCores-1)/limitCores - 1
	return max(l.value("cache line", "both ways at once"), float64(turns)*l.value("switch", "on one core"))
}

// memory returns the limit of copying or reducing on both cores at the memory level that so many bytes of all ranks
// fit. Another core's bytes come from the last cache at best. That limit was measured with two operands on each core,
// which fill half of the cache.
func (l limits) memory(name string, bytes int) (found *limit) {
	for _, where := range []string{"L3", "DRAM"} {
		found = l.find(func(l *limit) bool { return l.Name == name && l.Where == where && l.Cores == limitCores })
		if found != nil && bytes <= 2*2*limitCores*found.Bytes {
			break
		}
	}
	return found
}
