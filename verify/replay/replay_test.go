package replay_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/internal/events"
	_ "github.com/collgen/collgen/internal/lessgc" // proofs leave much garbage
	"github.com/collgen/collgen/verify/replay"
)

// jobs is where testdata/job is, built to write its events, and plain, built not to.
var jobs, plain string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "replay-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	jobs, plain = filepath.Join(dir, "job"), filepath.Join(dir, "plain")
	for _, args := range [][]string{{"-tags", "collgen_events", "-o", jobs}, {"-o", plain}} {
		if out, err := exec.Command("go", append(append([]string{"build"}, args...),
			"./testdata/job")...).CombinedOutput(); err != nil {
			println(string(out))
			return 1
		}
	}
	return m.Run()
}

// way is how the ranks of a job talk.
type way struct {
	name  string
	args  []string
	env   []string
	spawn bool // each rank is a process
}

var (
	inproc = way{name: "inproc"}
	shm    = way{name: "shm", env: []string{"COLL_TRANSPORT=shm"}, spawn: true}
	tcp    = way{name: "tcp", env: []string{"COLL_TRANSPORT=tcp"}, spawn: true}
	mixed  = way{name: "mixed", args: []string{"-hosts", "2"}, spawn: true}
)

// run has n ranks do something, and is the directory with their events. The last one may be killed.
func (w way) run(t testing.TB, n int, do string) string {
	t.Helper()
	if w.spawn && runtime.GOOS != "linux" {
		t.Skip("processes meet without a secret on Linux alone")
	}
	dir := filepath.Join(t.TempDir(), "events")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	start := func(rank int, args ...string) {
		cmd := exec.CommandContext(ctx, jobs, append(append(args, w.args...), "-do", do)...)
		cmd.Env = append(append(os.Environ(), w.env...), "COLL_EVENTS="+dir, "COLL_STORE=local", "COLL_JOB="+dir,
			fmt.Sprint("COLL_RANK=", rank),
			fmt.Sprint("COLL_SIZE=", n))
		out, err := cmd.CombinedOutput()
		if killed := do == "killed" && rank == n-1; err != nil && !killed || err == nil && killed {
			t.Errorf("rank %d: %v: %s", rank, err, out)
		}
	}
	if !w.spawn {
		start(0, "-run", fmt.Sprint(n))
		return dir
	}
	var all sync.WaitGroup
	for rank := range n {
		all.Go(func() { start(rank) })
	}
	all.Wait()
	return dir
}

// read returns the files that a run has written.
func read(t testing.TB, dir string) []*events.File {
	t.Helper()
	files, err := replay.Read(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// replayVar says how much TestReplay runs: "all" is all of what it can.
const replayVar = "COLLGEN_REPLAY"

// run is a job that is replayed.
type run struct {
	way
	n  int
	do string
}

// compare compares a report with what the job did.
func (r *run) compare(t *testing.T, report *replay.Report) {
	t.Helper()
	var died []int
	if r.do == "killed" {
		died = []int{r.n - 1}
	}
	if !slices.Equal(report.Died, died) || report.Processes != r.n {
		t.Errorf("%d processes, of which %v died, want %d and %v", report.Processes, report.Died, r.n, died)
	}
	between := r.do == "killed" || r.do == "cancelled" // that may come between two calls, when none fails
	if fails := r.do == "mismatched"; (report.Failed > 0) != fails && !between {
		t.Errorf("%d calls have failed", report.Failed)
	}
	least := 1 // algorithms
	if r.do == "calls" && r.n > 1 {
		least = 20
	}
	if len(report.Calls) < least {
		t.Errorf("calls by %d algorithms, want %d: %v", len(report.Calls), least, report.Calls)
	}
}

// compareCalls requires that calls are of algorithms of the catalogue, on communicators of up to n ranks.
func compareCalls(t *testing.T, calls []replay.Made, n int) {
	t.Helper()
	if len(calls) == 0 {
		t.Error("the first process has begun no call")
	}
	algorithms := catalogue.Algorithms()
	for _, c := range calls {
		i := slices.IndexFunc(algorithms, func(a gen.Algorithm) bool { return c.Is(&a) })
		if p := c.Params(); i < 0 || algorithms[i].Name != c.Algorithm || p.Size < 1 || p.Size > n ||
			!algorithms[i].Serves(p.Size, p.Local) {
			t.Errorf("a call of %s, %+v", c.Algorithm, p)
		}
	}
}

// TestReplay has real jobs replayed on the proved schedules, on all transports.
func TestReplay(t *testing.T) {
	runs := []run{{inproc, 1, "calls"}, {inproc, 4, "calls"}, {shm, 3, "calls"}, {tcp, 2, "calls"}, {mixed, 3, "calls"},
		{shm, 3, "killed"},
		{tcp, 3, "cancelled"}, {mixed, 3, "mismatched"}, {shm, 2, "slow"}}
	if os.Getenv(replayVar) == "all" {
		runs = nil
		for n := 2; n <= 5; n++ {
			for _, w := range []way{inproc, shm, tcp, mixed} {
				for _, do := range []string{"calls", "slow", "killed", "cancelled", "mismatched"} {
					if w.spawn || do != "killed" { // goroutines cannot be killed
						runs = append(runs, run{w, n, do})
					}
				}
			}
		}
	}
	seen, ran := map[events.Via]int{}, 0
	for _, r := range runs {
		t.Run(fmt.Sprintf("%s-%s-%d", r.do, r.name, r.n), func(t *testing.T) {
			ran++
			files := read(t, r.run(t, r.n, r.do))
			report, err := replay.Replay(files, catalogue.Algorithms())
			if err != nil {
				t.Fatal(err)
			}
			r.compare(t, report)
			compareCalls(t, replay.Calls(files[0]), r.n)
			for via, n := range report.Parts {
				seen[via] += n
			}
			t.Logf("%d events, parts %v, %d calls have failed, died %v", report.Events, report.Parts, report.Failed, report.Died)
		})
	}
	// By process_vm_readv(2) messages go where the system lets them.
	for _, via := range []events.Via{events.Inline, events.Slot, events.Full, events.Board, events.Region, events.Memory,
		events.Frame} {
		if seen[via] == 0 && ran == len(runs) && runtime.GOOS == "linux" {
			t.Errorf("no part went by %s: %v", via, seen)
		}
	}
}

// TestNothingWithoutTheTag: a program that is not built for events has no code for them on its data path, and refuses
// to be asked for them.
func TestNothingWithoutTheTag(t *testing.T) {
	hooks := []string{"exec.(*Call).event", "exec.(*Call).receive", "internal/shm.(*Endpoint).Follow",
		"internal/inproc.(*Endpoint).follow"}
	for _, c := range []struct {
		program string
		has     bool
	}{{jobs, true}, {plain, false}} {
		out, err := exec.Command("go", "tool", "nm", c.program).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, hook := range hooks {
			if runtime.GOOS != "linux" && strings.Contains(hook, "shm") {
				continue
			}
			if has := strings.Contains(string(out), hook); has != c.has {
				t.Errorf("%s has %s: %v", filepath.Base(c.program), hook, has)
			}
		}
	}
	cmd := exec.Command(plain, "-run", "2")
	cmd.Env = append(os.Environ(), "COLL_EVENTS="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out),
		"built without -tags collgen_events") {
		t.Errorf("%v: %s", err, out)
	}
}
