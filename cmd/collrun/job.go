//go:build unix && !aix && !solaris

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// settling is the time between a rank's failure and the end of the others: long enough for a rank that was killed to be
// told from those that fail because they miss it, and for those to say so themselves.
const settling = 100 * time.Millisecond

// passedOn are the signals that collrun passes on to the ranks.
var passedOn = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
	syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCONT}

// job is one run of a program.
type job struct {
	*options
	streams streams
	keeper  *keeper
	place   *place
	output  *output
	ranks   []*rank

	looks int // how often the ranks were looked at
	// those that failed before they were told to end; in the order in which they ended, except at one look
	failures []*rank
	asked    os.Signal // the first SIGINT or SIGTERM
	failure  string    // what went wrong that is not the failure of a rank
	status   int       // that goes with failure
	killed   bool      // the ranks were sent SIGKILL

	settled, late, out <-chan time.Time // when to send SIGTERM and SIGKILL, and the job's timeout; nil: not now
}

// run runs a job and returns collrun's exit status.
func run(o *options, s streams) int {
	j := &job{options: o, streams: s, output: new(output)}
	signals := make(chan os.Signal, 16) // before there is anything to clean up
	signal.Notify(signals, slices.DeleteFunc(slices.Clone(passedOn), signal.Ignored)...)
	defer signal.Stop(signals)
	children := make(chan os.Signal, 1) // one that is not yet received speaks for all
	signal.Notify(children, syscall.SIGCHLD)
	defer signal.Stop(children)

	if err := j.settle(); err != nil {
		fmt.Fprintln(s.err, "collrun:", err)
		return statusFailed
	}
	j.start()
	j.supervise(signals, children)
	cleanup := j.keeper.close()
	j.drain()
	return j.report(cleanup)
}

// settle makes what the ranks have in common.
func (j *job) settle() (err error) {
	if j.keeper, err = newKeeper(j.keeperLost); err != nil {
		return err
	}
	if j.place, err = newPlace(j.keeper.dir, 49152+rand.IntN(1<<14)); err != nil {
		return errors.Join(err, j.keeper.close())
	}
	return nil
}

// keeperLost warns that the keeper was killed, and goes on: the ranks are well.
func (j *job) keeperLost() {
	fmt.Fprintln(j.streams.err, "collrun: the keeper was killed: if collrun is killed as well, its ranks go on")
}

// start starts the ranks. If that fails, those already started are told to end.
func (j *job) start() {
	for i := range j.n {
		r := &rank{index: i}
		if err := r.start(j); err != nil {
			j.failure, j.status = fmt.Sprintf("rank %d cannot be started: %v", i, err), startStatus(err)
			j.end()
			return
		}
		j.ranks = append(j.ranks, r)
	}
}

// supervise returns when all ranks have ended.
func (j *job) supervise(signals, children <-chan os.Signal) {
	if j.timeout > 0 {
		j.out = time.After(j.timeout)
	}
	for j.reap() {
		select {
		case <-children:
		case s := <-signals:
			j.passOn(s.(syscall.Signal))
		case <-j.out:
			j.timedOut()
		case <-j.settled:
			j.end()
		case <-j.late:
			j.kill()
		}
	}
}

// reap takes note of the ranks that have ended since, and tells whether others live. Nobody else waits for them, so a
// process id stays a rank's, alive or not, while signal uses it.
func (j *job) reap() (living bool) {
	j.looks++
	for _, r := range j.ranks {
		if !r.ended && r.reap() {
			r.look = j.looks
			j.hasEnded(r)
		}
		living = living || !r.ended
	}
	return living
}

// timedOut ends a job that has no other reason to end.
func (j *job) timedOut() {
	if j.settled != nil || j.ending() {
		return
	}
	j.failure, j.status = fmt.Sprintf("not done after %v", j.timeout), statusTimeout
	j.end()
}

// hasEnded takes note of a rank's end. After the first failure the others have little time left, unless they may
// survive.
func (j *job) hasEnded(r *rank) {
	if !r.failed() || j.ending() {
		return
	}
	j.failures = append(j.failures, r)
	if j.settled == nil && !j.survive {
		j.settled = time.After(settling)
	}
}

// ending reports whether the ranks were told to end, other than by a signal to collrun.
func (j *job) ending() bool { return j.late != nil || j.killed }

// end tells all ranks to end, once.
func (j *job) end() {
	if j.ending() {
		return
	}
	j.settled = nil
	j.signal(syscall.SIGTERM)
	j.late = time.After(j.grace)
}

// kill ends all ranks.
func (j *job) kill() {
	j.killed = true
	j.settled, j.late = nil, nil
	j.signal(syscall.SIGKILL)
}

// passOn passes a signal to collrun on to the ranks. Who asks for the end when it is already under way is in a hurry.
func (j *job) passOn(s syscall.Signal) {
	if s == syscall.SIGINT || s == syscall.SIGTERM {
		if j.asked != nil || j.ending() {
			j.kill()
			return
		}
		j.asked = s
	}
	j.signal(s)
	if s == syscall.SIGTSTP {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // the ranks have stopped, so collrun does; SIGCONT wakes both
	}
}

// signal sends s to all processes of the ranks: those of their group, and of the groups that ranks themselves made.
// A stopped process has to go on to end.
func (j *job) signal(s syscall.Signal) {
	groups := []int{j.keeper.leader}
	for _, r := range j.ranks {
		if r.ended {
			continue
		}
		g, err := syscall.Getpgid(r.cmd.Process.Pid)
		if err == nil && g != syscall.Getpgrp() && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	for _, g := range groups {
		kill(g, s)
		if s == syscall.SIGINT || s == syscall.SIGTERM {
			kill(g, syscall.SIGCONT)
		}
	}
}

// drain waits until the output of all ranks was relayed. A process that left the group may hold a pipe open: what it
// writes later than a second after everything else has ended is not waited for, unless other output still is.
func (j *job) drain() {
	giveUp := time.AfterFunc(time.Second, func() {
		for _, r := range j.ranks {
			r.expire()
		}
	})
	j.output.streams.Wait()
	giveUp.Stop()
}
