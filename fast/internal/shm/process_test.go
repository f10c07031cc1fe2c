//go:build linux

package shm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Tests with real processes run the test binary again, once per rank, with a scenario in its environment.
const (
	scenarioVar = "COLLGEN_SHM_SCENARIO" // its name and arguments
	rankVar     = "COLLGEN_SHM_RANK"     // rank/size
)

// scenario is what each rank of a test does. What it prints, line by line, its test gets.
type scenario func(ctx context.Context, e *Endpoint, args []string) error

var scenarios = map[string]scenario{}

func TestMain(m *testing.M) {
	if os.Getenv(scenarioVar) == "" {
		os.Exit(m.Run())
	}
	if err := runRank(); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// runRank is a rank's process: its files are those from 3 on.
func runRank() error {
	var rank, size int
	if _, err := fmt.Sscanf(os.Getenv(rankVar), "%d/%d", &rank, &size); err != nil {
		return err
	}
	files := make([]int, size+1)
	for i := range files {
		files[i] = 3 + i
		unix.CloseOnExec(files[i])
	}
	e, err := Attach(rank, size, files)
	if err != nil {
		return err
	}
	args := strings.Fields(os.Getenv(scenarioVar))
	return scenarios[args[0]](context.Background(), e, args[1:])
}

// process is a rank in a process of its own.
type process struct {
	*exec.Cmd
	lines chan string // what it prints
}

// startRanks starts the ranks from first on; the caller is those before it, with what it attaches to.
func startRanks(t testing.TB, scenario string, first, size int) (*Origin, []*process) {
	t.Helper()
	o, err := NewOrigin(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	files := make([][]*os.File, size)
	for rank := range files {
		for _, fd := range o.Files(rank) {
			dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			files[rank] = append(files[rank], os.NewFile(uintptr(dup), "rank"+strconv.Itoa(rank)))
		}
	}
	var all []*process
	for rank := range files {
		if rank >= first {
			all = append(all, startRank(t, scenario, rank, size, files[rank]))
		}
		for _, f := range files[rank] {
			f.Close()
		}
	}
	return o, all
}

func startRank(t testing.TB, scenario string, rank, size int, files []*os.File) *process {
	t.Helper()
	p := &process{Cmd: exec.Command("/proc/self/exe"), lines: make(chan string, 1000)}
	p.Env = append(os.Environ(), scenarioVar+"="+scenario, fmt.Sprintf("%s=%d/%d", rankVar, rank, size))
	p.ExtraFiles = files
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	go p.scan(out)
	return p
}

func (p *process) scan(out io.Reader) {
	defer close(p.lines)
	for s := bufio.NewScanner(out); s.Scan(); {
		p.lines <- s.Text()
	}
}

// line is the next line that p prints, within a time that is long for any test.
func (p *process) line(t testing.TB) string {
	t.Helper()
	select {
	case l, ok := <-p.lines:
		if !ok {
			t.Fatal("the rank ended before its line")
		}
		return l
	case <-time.After(30 * time.Second):
		t.Fatal("the rank does not print its line")
	}
	return ""
}
