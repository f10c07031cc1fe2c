package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	// patience is how long a command that was told to end has for that.
	patience = 3 * time.Second
	// mostPrinted is how much of what a command prints is kept.
	mostPrinted = 1 << 20
)

// run runs a command in a process group of its own and returns what it printed. When ctx ends, the group is told to
// end, and killed if it does not; when the command has ended, whatever is left of its group is killed.
func run(ctx context.Context, command, env []string) ([]byte, error) {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	var out, problems head
	c.Stdout, c.Stderr, c.Env = &out, &problems, env
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = patience
	if err := c.Start(); err != nil {
		return nil, err
	}
	err := c.Wait()
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // there is none, as a rule
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w%s", command[0], err, problems.gist())
	}
	return out.kept.Bytes(), err
}

// errTooLong is the end of a measurement that hangs.
var errTooLong = errors.New("took too long")

// head keeps the beginning of what is written to it.
type head struct{ kept bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.kept.Write(p[:min(len(p), mostPrinted-h.kept.Len())])
	return len(p), nil
}

// gist returns the first line with words in it, for a message.
func (h *head) gist() string {
	const most = 200
	for line := range strings.Lines(h.kept.String()) {
		line = strings.TrimSpace(line)
		if strings.ContainsAny(line, "abcdefghijklmnopqrstuvwxyz") {
			return ": " + line[:min(len(line), most)]
		}
	}
	return ""
}
