package examples

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bin has collrun and all examples.
var bin string

func TestMain(m *testing.M) {
	if runtime.GOOS != "linux" {
		println("left out: ranks in several processes need Linux")
		return
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	var err error
	if bin, err = os.MkdirTemp("", "examples-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(bin)
	if out, err := exec.Command("go", "build", "-o", bin, "./...", "../cmd/collrun").CombinedOutput(); err != nil {
		println(string(out))
		return 1
	}
	return m.Run()
}

// output returns what a command prints; it fails the test if the command does not end, or not with the status.
func output(t *testing.T, status int, command string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, command), args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func program(name string) string { return filepath.Join(bin, name) }

func TestHello(t *testing.T) {
	var alone, launched []string
	for rank, reduce := range []string{"[1]", "[2]", "[10]", "[4]"} {
		for _, s := range []string{
			"all-gather     gives [1 2 3 4]", "all-reduce     gives [10]",
			"reduce         gives " + reduce, "reduce-scatter gives [10 10]",
		} {
			line := "rank " + strconv.Itoa(rank) + ": " + s + ", as it should\n"
			alone = append(alone, line)
			launched = append(launched, "["+strconv.Itoa(rank)+"] "+line)
		}
	}
	if d := cmp.Diff(alone, slices.Sorted(strings.Lines(output(t, 0, "hello")))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(launched, slices.Sorted(strings.Lines(output(t, 0, "collrun", "-n", "4",
		program("hello"))))); d != "" {
		t.Error(d)
	}
	if out := output(t, 1, "collrun", "-n", "3", program("hello")); !strings.Contains(out, "there are 3 ranks") {
		t.Error(out)
	}
}

// TestHelloUnderOtherLaunchers starts the ranks with the variables of other launchers, and with some that have no
// meaning.
func TestHelloUnderOtherLaunchers(t *testing.T) {
	for name, c := range map[string]struct{ rank, size, job string }{
		"Open MPI": {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"},
		"Slurm":    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID"},
		"COLL_*":   {"COLL_RANK", "COLL_SIZE", "COLL_JOB"},
	} {
		t.Run(name, func(t *testing.T) {
			job := "hello-" + strconv.Itoa(os.Getpid())
			var jobs sync.WaitGroup
			for rank := range 4 {
				cmd := exec.CommandContext(t.Context(), program("hello"))
				cmd.Env = append(os.Environ(), c.rank+"="+strconv.Itoa(rank), c.size+"=4", c.job+"="+job,
					"OMPI_COMM_WORLD_LOCAL_SIZE=4", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_NODES=1", "COLL_STORE=local")
				jobs.Go(func() {
					out, err := cmd.CombinedOutput()
					if lines := strings.Count(string(out), "rank "+strconv.Itoa(rank)+": "); err != nil || lines != 4 ||
						strings.Count(string(out), "\n") != 4 {
						t.Errorf("rank %d: %v: %s", rank, err, out)
					}
				})
			}
			jobs.Wait()
		})
	}
	cmd := exec.Command(program("hello"))
	cmd.Env = append(os.Environ(), "COLL_SIZE=4")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out),
		"COLL_SIZE is set, but not COLL_RANK") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestTooFewDescriptors: where a rank can open too few files, all ranks hear so, and none waits until its context ends.
func TestTooFewDescriptors(t *testing.T) {
	for _, n := range []int{8, 10, 12} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		out, err := exec.CommandContext(ctx, filepath.Join(bin, "collrun"), "-n", "3", "sh", "-c",
			fmt.Sprintf("ulimit -n %d; exec %s", n, program("hello"))).CombinedOutput()
		if text := string(out); ctx.Err() != nil || err == nil || !strings.Contains(text, "too many open files") ||
			strings.Contains(text, "deadline") {
			t.Errorf("%d descriptors: %v, %v: %s", n, ctx.Err(), err, out)
		}
		cancel()
	}
}

// accuracy finds what digits says of the test images.
func accuracy(t *testing.T, out string) float64 {
	t.Helper()
	found := regexp.MustCompile(`test accuracy of \d+ ranks: (.*)`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("no accuracy in %s", out)
	}
	a, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestDigits trains with one process and with four: they read digits equally well, and the four end with the same bits.
func TestDigits(t *testing.T) {
	one := accuracy(t, output(t, 0, "digits"))
	out := output(t, 0, "collrun", "-n", "4", program("digits"))
	four := accuracy(t, out)
	if one < 0.95 || four < 0.95 || math.Abs(four-one) > 0.01 {
		t.Errorf("accuracy of one process %.4f, of four %.4f", one, four)
	}
	parameters(t, 4, out)
}

// parameters returns the hash of the parameters, which all ranks have to print.
func parameters(t *testing.T, ranks int, out string) string {
	t.Helper()
	same := regexp.MustCompile(fmt.Sprintf(`\[(\d)\] rank \d: parameters ([0-9a-f]+), bit for bit those of all %d ranks`,
		ranks)).FindAllStringSubmatch(out, -1)
	if len(same) != ranks {
		t.Fatalf("%d of %d ranks say that they have the same parameters: %s", len(same), ranks, out)
	}
	for _, s := range same {
		if s[2] != same[0][2] {
			t.Errorf("rank %s has %s and rank %s %s", s[1], s[2], same[0][1], same[0][2])
		}
	}
	return same[0][2]
}

// TestShardedDigits trains with parameters that processes divide, and that all of them have: the bits are equal.
func TestShardedDigits(t *testing.T) {
	train := func(args ...string) string {
		return output(t, 0, "collrun", append([]string{"-n", "3", program("digits"), "-epochs", "3", "-reproducible"},
			args...)...)
	}
	if whole, sharded := parameters(t, 3, train()), parameters(t, 3, train("-sharded")); whole != sharded {
		t.Errorf("%s of all parameters, %s of shards", whole, sharded)
	}
}

// TestOthers runs the other examples on processes. Each checks its result by itself.
func TestOthers(t *testing.T) {
	for name, want := range map[string]struct {
		args  []string
		line  string
		times int
	}{
		"tensorparallel": {nil, `rank \d: off by \de-1[456]`, 3},
		"experts":        {nil, `step \d: the experts got`, 3},
		"pipeline":       {nil, `rank \d: off by .* [123] of 12 microbatches`, 3},
		"elastic":        {[]string{"-survive"}, `rank [02]: off by`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			out := output(t, 0, "collrun", append(want.args, "-n", "3", program(name))...)
			if n := len(regexp.MustCompile(want.line).FindAllString(out, -1)); n != want.times {
				t.Errorf("%d lines of %d: %s", n, want.times, out)
			}
		})
	}
}
