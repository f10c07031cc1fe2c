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
	// grace is how long a command has to end after SIGTERM.
	grace = 3 * time.Second
	// maxOutput is how many bytes of a command's output are kept.
	maxOutput = 1 << 20
)

// run runs a command in its own process group and returns its output. When ctx ends, the group gets SIGTERM, and is
// killed if that does not end it. When the command has ended, the rest of its group is killed.
func run(ctx context.Context, command, env []string) ([]byte, error) {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	var out, problems headBuffer
	c.Stdout, c.Stderr, c.Env = &out, &problems, env
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = grace
	if err := c.Start(); err != nil {
		return nil, err
	}
	err := c.Wait()
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // usually there is nobody left
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w%s", command[0], err, problems.summary())
	}
	return out.kept.Bytes(), err
}

// errTooLong ends a measurement that hangs.
var errTooLong = errors.New("took too long")

// headBuffer keeps the first maxOutput bytes written to it.
type headBuffer struct{ kept bytes.Buffer }

func (h *headBuffer) Write(p []byte) (int, error) {
	h.kept.Write(p[:min(len(p), maxOutput-h.kept.Len())])
	return len(p), nil
}

// summary returns the first line that contains letters, for an error message.
func (h *headBuffer) summary() string {
	const maxLine = 200
	for line := range strings.Lines(h.kept.String()) {
		line = strings.TrimSpace(line)
		if strings.ContainsAny(line, "abcdefghijklmnopqrstuvwxyz") {
			return ": " + line[:min(len(line), maxLine)]
		}
	}
	return ""
}
