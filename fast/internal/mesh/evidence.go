package mesh

import (
	"time"
)

// evidence is what the system reports about a process of this host.
type evidence struct {
	gone    bool
	stopped bool          // by a signal or a debugger
	wants   bool          // a thread is running or waits for a processor
	kept    bool          // a thread is in an uninterruptible wait
	used    time.Duration // processor time of all threads so far
	faults  uint64        // major page faults so far
}

// condition is what a process does, as a word for people.
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

// sample is evidence with its time in nanoseconds; at is 0 if there is none.
type sample struct {
	evidence
	at int64
}

// condition returns what a process has done since an earlier sample.
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

// conditionAtRest returns the condition of a process that may do nothing but send heartbeats and answer questions.
// These take one that sleeps some microseconds, for which it may have been woken at the end.
func (s sample) conditionAtRest(before sample) condition {
	c, light := s.condition(before), s.used-before.used < time.Duration(s.at-before.at)/20
	if light && (c == running && !s.wants || c == starving && !before.wants) {
		return asleep
	}
	return c
}

// because returns for the log why a silent process in this condition is given up.
func (c condition) because() string {
	if c == unknown {
		return "no answer"
	}
	return "no answer, " + string(c)
}

// slow reports whether a process in this condition may be merely slow, no matter how long it has been silent.
func (c condition) slow() bool {
	return c == running || c == starving || c == swapping || c == inKernel
}

// watched is what the detector knows about a peer since the peer was heard last.
type watched struct {
	since   int64 // when it was heard last
	excused int64 // how much of the time since does not count
	slow    bool  // it was given more time because it is slow
	slept   int   // how many times in a row it was found asleep
	sample        // the last sample, if the process is on this host
}
