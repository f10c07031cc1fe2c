//go:build unix && !aix && !solaris

package main

import (
	"fmt"
	"strings"
	"syscall"
)

// report tells in one block what went wrong, if anything did, and returns collrun's exit status. cleanup is what
// removing the job's directory gave.
func (j *job) report(cleanup error) int {
	var b strings.Builder
	status := j.cause(&b)
	for _, err := range []error{cleanup, j.output.err} {
		if err != nil {
			fmt.Fprintf(&b, "collrun: %v\n", err)
			status = max(status, statusFailed)
		}
	}
	fmt.Fprint(j.streams.err, b.String())
	return status
}

// cause writes the first cause, and returns its status.
func (j *job) cause(b *strings.Builder) int {
	first := j.firstFailure()
	switch {
	case j.failure != "":
		fmt.Fprintf(b, "collrun: %s\n", j.failure)
		return j.status
	case j.asked != nil:
		return j.interrupted(b, first)
	case first == nil:
		return 0
	}
	fmt.Fprintf(b, "collrun: rank %d failed first: %s\n", first.index, ending(first))
	if first.stderr != nil && len(first.stderr.lines) > 0 {
		fmt.Fprintf(b, "collrun: its last lines on stderr:\n%s", first.stderr)
	}
	var others []string
	for _, r := range j.failures {
		if r != first {
			others = append(others, fmt.Sprintf("rank %d (%s)", r.index, ending(r)))
		}
	}
	if more := len(others) - named; more > 0 {
		others = append(others[:named], fmt.Sprintf("and %d more", more))
	}
	if len(others) > 0 {
		fmt.Fprintf(b, "collrun: then failed: %s\n", strings.Join(others, ", "))
	}
	if survivors := j.survivors(); survivors > 0 {
		fmt.Fprintf(b, "collrun: %d of %d ranks survived and ended with 0\n", survivors, j.n)
	}
	return j.outcome(first)
}

// survivors returns how many ranks ended with 0, if the job goes on without those that fail; else 0.
func (j *job) survivors() (n int) {
	for _, r := range j.ranks {
		if j.survive && r.ended && !r.failed() {
			n++
		}
	}
	return n
}

// outcome returns the status of a job in which a rank failed first.
func (j *job) outcome(first *rank) int {
	if j.survivors() > 0 {
		return 0
	}
	return first.status()
}

// named is how many ranks that failed later are named.
const named = 8

// firstFailure returns the rank that failed first. One that was ended by a signal goes before those that ended
// themselves, because they may have done so for the lack of it. Of several that were found at one look, whose order is
// not known, it is the one whose status is the rarest: those that miss a rank end alike. Failures after the ranks were
// told to end do not count.
func (j *job) firstFailure() *rank {
	var first *rank
	like := map[int]int{} // how many failed with a status
	for _, r := range j.failures {
		if r.state.Signaled() {
			return r
		}
		like[r.status()]++
	}
	for _, r := range j.failures {
		if first == nil || r.look == first.look && like[r.status()] < like[first.status()] {
			first = r
		}
	}
	return first
}

// interrupted returns the cause when collrun was sent a signal to end.
func (j *job) interrupted(b *strings.Builder, first *rank) int {
	status := 0
	switch {
	case j.killed:
		status = 128 + int(j.asked.(syscall.Signal))
	case first != nil:
		status = j.outcome(first)
	}
	fmt.Fprintf(b, "collrun: ended by signal: %v\n", j.asked)
	return status
}

// ending returns how a rank ended, in words.
func ending(r *rank) string {
	w := r.state
	if !w.Signaled() {
		return fmt.Sprintf("exit status %d", w.ExitStatus())
	}
	words := fmt.Sprintf("signal %d: %v", w.Signal(), w.Signal())
	if w.CoreDump() {
		words += ", core dumped"
	}
	return words
}
