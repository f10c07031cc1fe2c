package fast

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

const sharedMemory = "/dev/shm"

// surroundings are what was there before a job: entries of the shared memory's directory, and sockets on which this
// process listens. Other tests come and go at the same time, so what is new is counted only if it is the job's: a
// rank's files are in a directory of the job's own, its sockets are those of a process that has the job's name in its
// environment, or of this process, and shared memory has our name and nobody holds it.
type surroundings struct {
	temp             string // TMPDIR of the job's ranks
	memory, listened []string
}

func look(t testing.TB) surroundings {
	t.Helper()
	return surroundings{t.TempDir(), memories(), listeners("self")}
}

// wantNothingLeft looks for what a job may leave behind: files, shared memory, processes, and sockets that listen. What
// ends on its own, as processes that were told to, has some time for it.
func (j *job) wantNothingLeft() {
	j.t.Helper()
	left := j.left()
	for deadline := time.Now().Add(generous); len(left) > 0 && time.Now().Before(deadline); left = j.left() {
		time.Sleep(10 * time.Millisecond)
	}
	if len(left) > 0 {
		j.t.Errorf("the job has left %s", strings.Join(left, ", "))
	}
}

// left returns what there is of the job, or was made meanwhile.
func (j *job) left() (left []string) {
	for _, name := range entries(j.before.temp) {
		left = append(left, filepath.Join(j.before.temp, name))
	}
	for _, name := range without(memories(), j.before.memory) {
		if path := filepath.Join(sharedMemory, name); !held(path) {
			left = append(left, path)
		}
	}
	left = append(left, without(listeners("self"), j.before.listened)...)
	for _, id := range pids() {
		if environ, err := os.ReadFile("/proc/" + id + "/environ"); err == nil && slices.Contains(
			strings.Split(string(environ), "\x00"), "COLL_JOB="+j.name) {
			left = append(append(left, "process "+id), listeners(id)...)
		}
	}
	return left
}

func without(all, some []string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return slices.Contains(some, s) })
}

// entries returns the names in dir, none if it is not there.
func entries(dir string) (names []string) {
	all, _ := os.ReadDir(dir)
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// memories returns the names of shared memory of this user's that has our name.
func memories() []string {
	return slices.DeleteFunc(entries(sharedMemory), func(name string) bool {
		var s unix.Stat_t
		return !strings.Contains(name, "collgen") || unix.Lstat(filepath.Join(sharedMemory, name), &s) != nil || int(s.Uid) != os.Geteuid()
	})
}

// pids returns the ids of all processes.
func pids() []string {
	return slices.DeleteFunc(entries("/proc"), func(name string) bool { return name[0] < '1' || name[0] > '9' })
}

// held reports whether a process has mapped the file, or has it open: then it is not left behind.
func held(path string) bool {
	return slices.ContainsFunc(pids(), func(id string) bool {
		maps, _ := os.ReadFile("/proc/" + id + "/maps")
		return bytes.Contains(maps, []byte(path)) || slices.Contains(descriptors(id), path)
	})
}

// descriptors returns what the process's descriptors are of: a path, or such as socket:[inode].
func descriptors(id string) (of []string) {
	for _, fd := range entries("/proc/" + id + "/fd") {
		if link, err := os.Readlink("/proc/" + id + "/fd/" + fd); err == nil {
			of = append(of, link)
		}
	}
	return of
}

// tables are where the system lists sockets: which column tells those that listen, by which word, which one has the
// inode, and which one the address.
var tables = []struct {
	name, listens           string
	state, inode, addressed int
}{{"unix", "00010000", 3, 6, 7}, {"tcp", "0A", 3, 9, 1}, {"tcp6", "0A", 3, 9, 1}}

// listeners returns the sockets on which the process listens.
func listeners(id string) (all []string) {
	open := descriptors(id)
	for _, table := range tables {
		text, _ := os.ReadFile("/proc/" + id + "/net/" + table.name)
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) > max(table.inode, table.addressed) && f[table.state] == table.listens &&
				slices.Contains(open, "socket:["+f[table.inode]+"]") {
				all = append(all, fmt.Sprintf("%s socket %s (%s) of process %s", table.name, f[table.addressed], f[table.inode], id))
			}
		}
	}
	return all
}

// TestLeftovers leaves one of everything behind: each is found, and nothing else is.
func TestLeftovers(t *testing.T) {
	name := fmt.Sprint("collgen-planted-", os.Getpid())
	for what, plant := range map[string]func(t *testing.T, j *job) (remove func()){
		name + " file": func(t *testing.T, j *job) func() { return plantFile(t, filepath.Join(j.before.temp, name)) },
		name + " memory": func(t *testing.T, _ *job) func() {
			return plantFile(t, filepath.Join(sharedMemory, name))
		},
		"@" + name: func(t *testing.T, _ *job) func() { return plantListener(t, "unix", "@"+name) },
		"tcp":      func(t *testing.T, _ *job) func() { return plantListener(t, "tcp", "127.0.0.1:0") },
		"process": func(t *testing.T, j *job) func() {
			p := exec.Command("sleep", "60")
			p.Env = j.env(0)
			if err := p.Start(); err != nil {
				t.Skip(err)
			}
			return func() { _, _ = p.Process.Kill(), p.Wait() }
		},
	} {
		t.Run(what, func(t *testing.T) {
			j := newJob(t, 1, "")
			j.wantNothingLeft()
			remove := plant(t, j)
			left := j.left()
			remove()
			want, _, _ := strings.Cut(what, " ")
			if len(left) != 1 || !strings.Contains(left[0], want) {
				t.Errorf("found %q, want %s", left, want)
			}
			j.wantNothingLeft()
		})
	}
}

func plantFile(t *testing.T, path string) (remove func()) {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Skip(err) // no such directory here
	}
	return func() { _ = os.Remove(path) }
}

func plantListener(t *testing.T, network, address string) (remove func()) {
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = l.Close() }
}
