//go:build unix && !aix && !solaris

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// rank is one process of the job.
type rank struct {
	index  int
	cmd    *exec.Cmd
	stderr *tail      // nil: not looked at
	pipes  []*os.File // our ends of those where it writes
	ended  bool       // and was waited for, so its process id may be another's
	state  syscall.WaitStatus
	look   int // at which of the job's looks it was found to have ended
}

// start starts r's process in the process group and relays its output.
func (r *rank) start(j *job) error {
	r.cmd = exec.Command(j.program[0], j.program[1:]...)
	r.cmd.Env = j.place.environment(r.index, j.options)
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: j.keeper.leader}
	dieWithParent(r.cmd.SysProcAttr)
	theirs, err := r.connect(j)
	if err == nil {
		err = r.cmd.Start()
	}
	for _, f := range theirs {
		f.Close()
	}
	return err // the relaying ends with theirs
}

// connect sets up the process's standard streams. It returns the ends of pipes that are the process's own.
func (r *rank) connect(j *job) (theirs []*os.File, err error) {
	if j.stdin && r.index == 0 {
		in, err := feed(j.streams.in)
		if err != nil {
			return nil, err
		}
		r.cmd.Stdin = in
		theirs = append(theirs, in)
	}
	if j.raw {
		r.cmd.Stdout, r.cmd.Stderr = j.streams.out, j.streams.err
		return theirs, nil
	}
	r.stderr = new(tail)
	out, err := r.relayed(j, j.streams.out, nil)
	if err != nil {
		return theirs, err
	}
	theirs = append(theirs, out)
	diag, err := r.relayed(j, j.streams.err, r.stderr)
	if err != nil {
		return theirs, err
	}
	r.cmd.Stdout, r.cmd.Stderr = out, diag
	return append(theirs, diag), nil
}

// feed returns a pipe from which a process reads what comes from r. It stands between the two because a process outside
// of the terminal's foreground group may not read the terminal.
func feed(r io.Reader) (*os.File, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		_, _ = io.Copy(out, r) // ends with either side
		out.Close()
	}()
	return in, nil
}

// relayed returns a pipe to which the process writes what goes to w, line by line.
func (r *rank) relayed(j *job, w io.Writer, keep *tail) (*os.File, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r.pipes = append(r.pipes, in)
	j.output.streams.Go(func() { j.output.relay(w, &pipe{in, maxPipe}, fmt.Sprintf("[%d] ", r.index), keep) })
	return out, nil
}

// expire ends the relaying of output that is still to come.
func (r *rank) expire() {
	for _, p := range r.pipes {
		_ = p.SetReadDeadline(time.Now())
	}
}

// reap reports whether the process has ended, and does not wait for that. It is called until then.
func (r *rank) reap() bool {
	pid, err := syscall.Wait4(r.cmd.Process.Pid, &r.state, syscall.WNOHANG, nil)
	r.ended = pid == r.cmd.Process.Pid
	if err != nil && !errors.Is(err, syscall.EINTR) {
		panic(fmt.Sprintf("waiting for rank %d: %v", r.index, err)) // somebody else has
	}
	return r.ended
}

// failed reports whether the rank's process has ended with anything but exit status 0.
func (r *rank) failed() bool { return r.ended && r.state != 0 }

// status returns the process's exit status as a shell would show it.
func (r *rank) status() int {
	if r.state.Signaled() {
		return 128 + int(r.state.Signal())
	}
	return r.state.ExitStatus()
}

// startStatus returns the status for a program that could not be started.
func startStatus(err error) int {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		return statusNotFound
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		return statusNotRunnable
	}
	return statusFailed
}
