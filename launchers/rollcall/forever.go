//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast"
)

// wait is how long a rank waits for one that goes astray by being late, which it is by more than that.
const wait = time.Second

// goOn does collectives until one fails. Then it prints a time that all processes of the machine agree on, and the
// error.
func (s *settings) goOn(ctx context.Context, c *fast.Comm) error {
	buf := make([]float32, s.forever)
	for i := 0; ; i++ {
		if i == 10 && s.odd >= 0 {
			buf = s.goAstray(c, buf)
		}
		if err := s.once(ctx, c, buf); err != nil {
			fmt.Println("failed at", clock(), err)
			return err
		}
	}
}

// once makes one collective, which waits for nobody who is late.
func (s *settings) once(ctx context.Context, c *fast.Comm, buf []float32) error {
	if s.how == "late" {
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		ctx = limited
	}
	return fast.AllReduce(ctx, c, buf, fast.Max)
}

// goAstray returns what the odd rank does before a call. Others go on as they are.
func (s *settings) goAstray(c *fast.Comm, buf []float32) []float32 {
	if c.Rank() != s.odd {
		return buf
	}
	switch s.how {
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "late":
		time.Sleep(3 * wait)
	case "count":
		buf = append(buf, 0)
	}
	return buf
}

// clock returns a time in nanoseconds that all processes of the machine agree on.
func clock() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}
