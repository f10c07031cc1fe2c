package fasttest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Tests with ranks as processes run the test binary again, once per rank, with a role in its environment.
const roleVar = "COLLGEN_TEST_ROLE" // its name and arguments

// Roles are what ranks in processes of their own do. What a rank prints, line by line, its test gets.
var Roles = map[string]func(ctx context.Context, args []string) error{}

// endWithTest ends a rank when its test is gone, which may have been killed: it holds the other end of standard input.
func endWithTest() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

// Clock returns a time in nanoseconds that all processes of the machine agree on.
func Clock() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// Job is ranks that meet under a name of their own.
type Job struct {
	t    testing.TB
	name string
	Role string
	size int
	With []string // more of the ranks' environment
	Logs bool     // what the ranks log is among their lines

	before surroundings // what there was when the job was made
}

// jobs counts the jobs of this process, whose names tell them apart.
var jobs atomic.Int64

// NewJob returns a job of size ranks with that role, none of which was started.
func NewJob(t testing.TB, size int, role string) *Job {
	name := fmt.Sprintf("%s %d.%d", t.Name(), os.Getpid(), jobs.Add(1))
	return &Job{t: t, before: look(t), name: name, Role: role, size: size}
}

// Env returns what a rank finds in its environment.
func (j *Job) Env(rank int) []string {
	return append([]string{fmt.Sprint("RANK=", rank), fmt.Sprint("WORLD_SIZE=", j.size), fmt.Sprint("LOCAL_RANK=", rank),
		fmt.Sprint("LOCAL_WORLD_SIZE=", j.size), "MASTER_ADDR=127.0.0.1", "MASTER_PORT=29500", "COLL_JOB=" + j.name,
		"TMPDIR=" + j.before.temp, roleVar + "=" + j.Role, "COLL_RDMA=" + DeviceOf(rank)}, j.With...)
}

// Process is a rank in a process of its own.
type Process struct {
	*exec.Cmd
	Rank  int
	lines chan string
}

// Start starts the ranks from first up to, but without, end.
func (j *Job) Start(first, end int) []*Process {
	j.t.Helper()
	var all []*Process
	for rank := first; rank < end; rank++ {
		p := &Process{Cmd: exec.Command("/proc/self/exe"), Rank: rank, lines: make(chan string, 100)}
		p.Env = append(os.Environ(), j.Env(rank)...)
		p.Stderr = os.Stderr
		out, err := p.StdoutPipe()
		if j.Logs {
			p.Stderr = p.Stdout
		}
		if err == nil {
			_, err = p.StdinPipe() // closed by the system when this process ends
		}
		if err == nil {
			err = p.Start()
		}
		if err != nil {
			j.t.Fatal(err)
		}
		j.t.Cleanup(func() {
			_ = p.Process.Kill()
			_ = p.Wait()
		})
		go p.scan(out)
		all = append(all, p)
	}
	return all
}

func (p *Process) scan(out io.Reader) {
	defer close(p.lines)
	for s := bufio.NewScanner(out); s.Scan(); {
		p.lines <- s.Text()
	}
}

// Line returns the next line that p prints, within a time that is long for any test.
func (p *Process) Line(t testing.TB) string {
	t.Helper()
	l, err := p.LineWithin(Generous)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// LineWithin returns the next line that p prints, if it comes in time.
func (p *Process) LineWithin(d time.Duration) (string, error) {
	select {
	case l, ok := <-p.lines:
		if !ok {
			return "", fmt.Errorf("rank %d has ended before its line", p.Rank)
		}
		return l, nil
	case <-time.After(d):
		return "", fmt.Errorf("rank %d does not print its line", p.Rank)
	}
}

// Failure returns the error that p ends with, and when.
func (p *Process) Failure(t testing.TB) (at int64, text string) {
	t.Helper()
	l := p.Line(t)
	for strings.HasPrefix(l, "up") || strings.Contains(l, " WARN ") {
		l = p.Line(t)
	}
	if _, err := fmt.Sscan(l, &at); err != nil {
		t.Fatalf("rank %d: %q", p.Rank, l)
	}
	_, text, _ = strings.Cut(l, " ")
	return at, text
}

// End ends the ranks that still run, waits for all, and looks for what a job may leave behind.
func (j *Job) End(ranks []*Process) {
	j.t.Helper()
	for _, p := range ranks {
		_ = p.Process.Kill()
		_ = p.Wait()
	}
	j.WantNothingLeft()
}

// Main runs the tests, or what a rank does where this process is one, and ends the process unless the rank succeeds.
func Main(m *testing.M) {
	role := strings.Fields(os.Getenv(roleVar))
	if len(role) == 0 {
		os.Exit(m.Run())
	}
	go endWithTest()
	if err := Roles[role[0]](context.Background(), role[1:]); err != nil {
		fmt.Println(Clock(), err)
		os.Exit(1)
	}
}
