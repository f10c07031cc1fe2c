package mesh

import (
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

// watched is what a detector knows of a peer since it was silent no more.
type watched struct {
	since   int64 // when that was
	excused int64 // for how long of that there was an excuse
	slow    bool  // it was excused because it is slow
	slept   int   // how often in succession it was found asleep
	sample        // the last one of the process, if it is this host's
}
