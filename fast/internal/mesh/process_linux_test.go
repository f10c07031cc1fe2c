package mesh

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// shelf is a store that is a directory, for the tests that need processes.
type shelf string

func (s shelf) file(round string, process int) string {
	return filepath.Join(string(s), fmt.Sprint(round, process))
}

func (s shelf) publish(process int) func(context.Context, string, []byte) error {
	return func(_ context.Context, round string, card []byte) error {
		f := s.file(round, process)
		return errors.Join(os.WriteFile(f+"~", card, 0o600), os.Rename(f+"~", f))
	}
}

func (s shelf) fetch(ctx context.Context, round string, process int) ([]byte, error) {
	for ctx.Err() == nil {
		if b, err := os.ReadFile(s.file(round, process)); err == nil {
			return b, nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil, ctx.Err()
}

// config returns that of a process of two, or of as many as way says, which is "local", "tcp", "three", "many", or the
// address to listen on.
func (s shelf) config(process int, way string) Config {
	size := 2
	switch way {
	case "three":
		size = 3
	case "many":
		size = 24
	}
	c := newBoard().config(process, size)
	c.Publish, c.Fetch, c.ForceTCP = s.publish(process), s.fetch, way == "tcp"
	if way != "many" {
		c.HeartbeatTimeout = freeze
	}
	if a, err := netip.ParseAddr(way); err == nil {
		c.Addresses = func() ([]netip.Addr, string, error) { return []netip.Addr{a}, "the test says so", nil }
	}
	return c
}

// TestMain is also a process of the tests that need some: strays, or one that says when it has joined, and why the
// other one is down for it when it is.
func TestMain(m *testing.M) {
	if os.Getenv("MESH_TEST_STRAYS") != "" {
		pester()
		os.Exit(0)
	}
	if os.Getenv("MESH_TEST_CROWD") != "" {
		if err := crowd(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv("MESH_TEST_WAITER") != "" {
		waitInKernel()
	}
	dir := os.Getenv("MESH_TEST_DIR")
	if dir == "" {
		os.Exit(m.Run())
	}
	process, _ := strconv.Atoi(os.Getenv("MESH_TEST_PROCESS"))
	job, err := Join(context.Background(), shelf(dir).config(process, os.Getenv("MESH_TEST_WAY")))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	down := make(chan error, 10)
	job.Watch(func(p int, err error) {
		if p != process {
			down <- err
		}
	})
	fmt.Println("joined")
	fmt.Println(<-down)
	os.Exit(0)
}

// other is a process of a job, as one of its own.
type other struct {
	*exec.Cmd
	says *bufio.Reader
}

// launch starts a process of two by a command, which this program is an argument of.
func (s shelf) launch(t *testing.T, process int, way string, command ...string) other {
	command = append(command, os.Args[0])
	return launch(t, exec.Command(command[0], command[1:]...), "MESH_TEST_DIR="+string(s), "MESH_TEST_WAY="+way,
		fmt.Sprint("MESH_TEST_PROCESS=", process))
}

// launch starts this program once more, as what env says. It ends with the test.
func launch(t *testing.T, cmd *exec.Cmd, env ...string) other {
	t.Helper()
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return other{cmd, bufio.NewReader(out)}
}

// start begins a job with another process, number 1.
func start(t *testing.T, way string) (*Mesh, other) {
	leavesNothing(t)
	s := shelf(t.TempDir())
	o := s.launch(t, 1, way)
	m, err := Join(soon(t), s.config(0, way))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	o.joined(t)
	return m, o
}

func (o other) joined(t *testing.T) {
	t.Helper()
	if line := o.line(t); line != "joined" {
		t.Fatal(line)
	}
}

// line returns what the process says next.
func (o other) line(t *testing.T) string {
	line, err := o.says.ReadString('\n')
	if err != nil && err != io.EOF {
		t.Error(err)
	}
	return strings.TrimSpace(line)
}

// TestProcessKilled kills a process: the other one knows it at once.
func TestProcessKilled(t *testing.T) {
	for _, way := range []string{"local", "tcp"} {
		t.Run(way, func(t *testing.T) {
			m, o := start(t, way)
			heard := watch(m)
			killed := time.Now()
			if err := o.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if x := heard.next(t); x != (fallen{1, wire.ErrDied}) {
				t.Error(x)
			}
			t.Log(time.Since(killed))
		})
	}
}

// TestProcessStopped stops a process for longer than it may be silent: the other one knows it in time, and tells it so
// when it goes on.
func TestProcessStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	type stop struct {
		way   string
		heard falls
		other other
		at    time.Time
	}
	var stops []stop
	for _, way := range []string{"local", "tcp"} {
		m, o := start(t, way)
		stops = append(stops, stop{way, watch(m), o, time.Now()})
		if err := o.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range stops {
		if x := s.heard.next(t); x.process != 1 || !errors.Is(x.err, wire.ErrFrozen) {
			t.Error(s.way, x)
		}
		t.Logf("%s: known after %v; the bound is %v", s.way, time.Since(s.at), bound)
		if err := s.other.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if line := s.other.line(t); line != wire.ErrFenced.Error() {
			t.Error(s.way, line)
		}
	}
}

// TestConditions: what is known of a process that sleeps, of one that is stopped, and of one that was killed.
func TestConditions(t *testing.T) {
	m, o := start(t, "local")
	reach := func(want string) {
		t.Helper()
		end, words := time.Now().Add(time.Minute), ""
		for !strings.HasPrefix(words, want) {
			if time.Now().After(end) {
				t.Fatalf("it is known that it is %q, want %q", words, want)
			}
			words = m.Conditions([]int{1})[0]
		}
	}
	reach(string(asleep) + "; its last heartbeat came")
	if err := o.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	reach(string(stopped) + "; its last heartbeat came")
	if err := o.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	reach("rank d") // it died, or does not answer
	if got := m.Conditions([]int{0, 5}); got[0] != "not connected" || got[1] != "not connected" {
		t.Errorf("of processes that there is no connection to: %q", got)
	}
}
