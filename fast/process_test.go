//go:build linux

package fast

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

// roles are what ranks in processes of their own do. What a rank prints, line by line, its test gets.
var roles = map[string]func(ctx context.Context, args []string) error{}

func TestMain(m *testing.M) {
	role := strings.Fields(os.Getenv(roleVar))
	if len(role) == 0 {
		os.Exit(m.Run())
	}
	go endWithTest()
	if err := roles[role[0]](context.Background(), role[1:]); err != nil {
		fmt.Println(clock(), err)
		os.Exit(1)
	}
}

// endWithTest ends a rank when its test is gone, which may have been killed: it holds the other end of standard input.
func endWithTest() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

// clock returns a time in nanoseconds that all processes of the machine agree on.
func clock() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// job is ranks that meet under a name of their own.
type job struct {
	t    testing.TB
	name string
	role string
	size int
	with []string // more of the ranks' environment
	logs bool     // what the ranks log is among their lines

	before surroundings // what there was when the job was made
}

// jobs counts the jobs of this process, whose names tell them apart.
var jobs atomic.Int64

// newJob returns a job of size ranks with that role, none of which was started.
func newJob(t testing.TB, size int, role string) *job {
	return &job{t: t, before: look(t), name: fmt.Sprintf("%s %d.%d", t.Name(), os.Getpid(), jobs.Add(1)), role: role, size: size}
}

func (j *job) env(rank int) []string {
	return append([]string{fmt.Sprint("RANK=", rank), fmt.Sprint("WORLD_SIZE=", j.size), fmt.Sprint("LOCAL_RANK=", rank),
		fmt.Sprint("LOCAL_WORLD_SIZE=", j.size), "MASTER_ADDR=127.0.0.1", "MASTER_PORT=29500", "COLL_JOB=" + j.name,
		"TMPDIR=" + j.before.temp, roleVar + "=" + j.role, "COLL_RDMA=" + deviceOf(rank)}, j.with...)
}

// process is a rank in a process of its own.
type process struct {
	*exec.Cmd
	rank  int
	lines chan string
}

// start starts the ranks from first up to, but without, end.
func (j *job) start(first, end int) []*process {
	j.t.Helper()
	var all []*process
	for rank := first; rank < end; rank++ {
		p := &process{Cmd: exec.Command("/proc/self/exe"), rank: rank, lines: make(chan string, 100)}
		p.Env = append(os.Environ(), j.env(rank)...)
		p.Stderr = os.Stderr
		out, err := p.StdoutPipe()
		if j.logs {
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

func (p *process) scan(out io.Reader) {
	defer close(p.lines)
	for s := bufio.NewScanner(out); s.Scan(); {
		p.lines <- s.Text()
	}
}

// line returns the next line that p prints, within a time that is long for any test.
func (p *process) line(t testing.TB) string {
	t.Helper()
	l, err := p.lineWithin(generous)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// lineWithin returns the next line that p prints, if it comes in time.
func (p *process) lineWithin(d time.Duration) (string, error) {
	select {
	case l, ok := <-p.lines:
		if !ok {
			return "", fmt.Errorf("rank %d has ended before its line", p.rank)
		}
		return l, nil
	case <-time.After(d):
		return "", fmt.Errorf("rank %d does not print its line", p.rank)
	}
}

// failure returns the error that p ends with, and when.
func (p *process) failure(t testing.TB) (at int64, text string) {
	t.Helper()
	l := p.line(t)
	for strings.HasPrefix(l, "up") || strings.Contains(l, " WARN ") {
		l = p.line(t)
	}
	if _, err := fmt.Sscan(l, &at); err != nil {
		t.Fatalf("rank %d: %q", p.rank, l)
	}
	_, text, _ = strings.Cut(l, " ")
	return at, text
}

// end ends the ranks that still run, waits for all, and looks for what a job may leave behind.
func (j *job) end(ranks []*process) {
	j.t.Helper()
	for _, p := range ranks {
		_ = p.Process.Kill()
		_ = p.Wait()
	}
	j.wantNothingLeft()
}
