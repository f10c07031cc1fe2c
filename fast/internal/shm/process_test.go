//go:build linux

package shm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
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

// runRank runs a rank's process: file 3 is the memory.
func runRank() error {
	var rank, size int
	if _, err := fmt.Sscanf(os.Getenv(rankVar), "%d/%d", &rank, &size); err != nil {
		return err
	}
	unix.CloseOnExec(3)
	e, err := Attach(rank, size, 3)
	if err != nil {
		return err
	}
	go listen(e)
	args := strings.Fields(os.Getenv(scenarioVar))
	return scenarios[args[0]](context.Background(), e, args[1:])
}

// listen fails e when the test says which rank died.
func listen(e *Endpoint) {
	var died int
	if _, err := fmt.Scan(&died); err == nil {
		e.Fail(&wire.PeerError{Rank: died, Err: wire.ErrDied})
	}
}

// process is a rank in a process of its own.
type process struct {
	*exec.Cmd
	lines chan string // what it prints
	input io.Writer
}

// startRanks starts the ranks from first on; the caller is those before it, and attaches to the memory.
func startRanks(t testing.TB, scenario string, first, size int) (memory int, all []*process) {
	t.Helper()
	memory, err := Create(size)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(duplicate(t, memory)), "memory")
	defer file.Close()
	for rank := first; rank < size; rank++ {
		all = append(all, startRank(t, scenario, rank, size, file))
	}
	return memory, all
}

func startRank(t testing.TB, scenario string, rank, size int, memory *os.File) *process {
	t.Helper()
	p := &process{Cmd: exec.Command("/proc/self/exe"), lines: make(chan string, 1000)}
	p.Env = append(os.Environ(), scenarioVar+"="+scenario, fmt.Sprintf("%s=%d/%d", rankVar, rank, size))
	p.ExtraFiles = []*os.File{memory}
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.input, err = p.StdinPipe(); err != nil {
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

// line returns the next line that p prints, within a time that is long for any test.
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
