package mesh

import (
	"fmt"
	"time"
)

// evidence is what the system says of a process of this host.
type evidence struct {
	gone    bool
	stopped bool          // by a signal or a debugger
	wants   bool          // some thread is running, or waits for a processor
	kept    bool          // some thread waits in the kernel for something that no signal ends
	used    time.Duration // time of processors, by all threads so far
	faults  uint64        // pages that were read from disk for it so far
}

// condition is what a process does, in words for people.
type condition string

const (
	unknown  condition = "" // the system does not tell
	running  condition = "running"
	starving condition = "waiting for a processor"
	swapping condition = "waiting for its memory, which is on disk"
	inKernel condition = "waiting in the kernel"
	stopped  condition = "stopped"
	asleep   condition = "asleep"
	gone     condition = "gone"
)

// sample is evidence, and when it was found, in nanoseconds; 0: never.
type sample struct {
	evidence
	at int64
}

// condition returns what a process has done since the sample before.
func (s sample) condition(before sample) condition {
	switch used := s.used - before.used; {
	case s.gone:
		return gone
	case s.stopped:
		return stopped
	case s.wants && used < time.Duration(s.at-before.at)/2:
		return starving
	case s.wants || used > 0:
		return running
	case s.faults > before.faults:
		return swapping
	case s.kept:
		return inKernel
	}
	return asleep
}

// because returns why a silent process in this condition is given up, for the log.
func (c condition) because() string {
	if c == unknown {
		return "no answer"
	}
	return "no answer, " + string(c)
}

// slow reports whether a process in this condition may only be slow, however long nothing is heard of it.
func (c condition) slow() bool {
	return c == running || c == starving || c == swapping || c == inKernel
}

// excuse warns that a process is slow.
func (m *Mesh) excuse(process int, silent int64, c condition) {
	m.cfg.Log.Warn("a process is slow, and not given up yet", "process", process, "silent",
		time.Duration(silent).Round(time.Millisecond), "condition", c)
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

// Conditions returns what is known of what each of processes does, in words for people. It takes a tenth of a second.
func (m *Mesh) Conditions(processes []int) []string {
	pids, words := make([]int, len(processes)), make([]string, len(processes))
	for i, process := range processes {
		if p := m.peer(process); p != nil {
			pids[i] = int(p.pid.Load())
		}
	}
	for i, c := range observe(pids) {
		p, err := m.peer(processes[i]), m.Down(processes[i])
		switch {
		case err != nil:
			words[i] = err.Error()
		case p == nil:
			words[i] = "not connected"
		default:
			words[i] = fmt.Sprintf("its last heartbeat came %v ago", time.Duration(m.now()-p.heard.Load()).Round(10*time.Millisecond))
		}
		if c != unknown {
			words[i] = string(c) + "; " + words[i]
		}
	}
	return words
}
