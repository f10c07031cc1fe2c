package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/cmd/collperf/internal/ranks"
	"github.com/collgen/collgen/fast"
)

// asCollperf, in the environment, makes the test binary be collperf.
const asCollperf = "COLLPERF_TEST_IS_COLLPERF"

func TestMain(m *testing.M) {
	if os.Getenv(asCollperf) != "" {
		main()
	}
	os.Exit(m.Run())
}

// deadline bounds whatever a test waits for: only what hangs takes so long, on a busy machine too.
const deadline = 10 * time.Minute

// collperf prepares a process of collperf.
func collperf(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	// The race detector lets every process sleep a second before it exits, unless told otherwise.
	cmd.Env = append(os.Environ(), asCollperf+"=1", "GORACE=atexit_sleep_ms=0")
	cmd.WaitDelay = deadline
	return cmd
}

// runs has collperf run to its end, which fails the test unless the status is that.
func runs(t *testing.T, status int, args ...string) (out, report string) {
	t.Helper()
	cmd := collperf(t, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != status {
		t.Fatalf("collperf %q: %v, want status %d\n%s%s", args, err, status, stdout.String(), stderr.String())
	}
	return stdout.String(), stderr.String()
}

// resultsOf returns the lines of -format json.
func resultsOf(t *testing.T, out string) (all []bench.Result) {
	t.Helper()
	for line := range strings.Lines(out) {
		var r bench.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, r)
	}
	return all
}

func TestMeasuresEverythingOverEveryTransport(t *testing.T) {
	transports := []string{ranks.InProc, "tcp"}
	if ranks.DefaultTransport() == "shm" {
		transports = append(transports, "shm")
	}
	for _, transport := range transports {
		for _, count := range []string{"2", "3"} {
			args := []string{"-format", "json", "-transport", transport, "-ranks", count, "-n", "1", "-w", "1",
				"-b", "8", "-e", "40K", "-f", "5120"}
			out, report := runs(t, 0, append(args, "all")...)
			if report != "" {
				t.Errorf("%s: %s", transport, report)
			}
			seen := make(map[string]int)
			for _, r := range resultsOf(t, out) {
				seen[r.Collective]++
				wantPlausible(t, &r, transport)
			}
			for _, o := range bench.Operations {
				want := 4 // two sizes, in place and out of place
				switch {
				case o.Name == "all-to-all-v": // it has no form in place
					want = 2
				case o.Width(2) == 0:
					want = 1
				}
				if seen[o.Name] != want {
					t.Errorf("%s: %d results of %s, want %d", transport, seen[o.Name], o.Name, want)
				}
			}
		}
	}
}

// wantPlausible checks what has to hold for every result, whatever the machine.
func wantPlausible(t *testing.T, r *bench.Result, transport string) {
	t.Helper()
	s := r.Microseconds
	if r.Wrong == nil || *r.Wrong != 0 || r.Transport != transport || r.Iterations < 1 || s.Median <= 0 || s.P50 <= 0 ||
		!slices.IsSorted([]float64{s.Min, s.Median}) || !slices.IsSorted([]float64{s.P50, s.P90, s.P99, s.P999, s.Max}) {
		t.Errorf("%+v", r)
	}
}

func TestEveryTypeAndOperator(t *testing.T) {
	for _, e := range bench.Elements {
		for _, f := range bench.Reductions {
			if !f.Op.Takes(e.Type) {
				continue
			}
			out, _ := runs(t, 0, "-format", "json", "-transport", ranks.InProc, "-ranks", "3", "-n", "1", "-b", "40000", "-e",
				"40000",
				"-d", e.Alias, "-o", f.Op.String(), "all-reduce", "reduce-scatter")
			for _, r := range resultsOf(t, out) {
				if r.Type != e.Name || r.Op != f.Op.String() || *r.Wrong != 0 {
					t.Errorf("%+v: %d wrong", r, *r.Wrong)
				}
			}
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		args   string
		status int
		says   string
	}{
		{"-h", 0, "-algorithm"},
		{"-h", 0, "ping-pong"},
		{"all-reduce -h", 0, "busbw"},
		{"-bogus", 2, "-bogus"},
		{"some-reduce", 2, "there are all, all-reduce"},
		{"-b 1K -e 8", 2, "-b 1K is more than -e 8"},
		{"-b 1X", 2, "number of bytes"},
		{"-f 1", 2, "-f 1"},
		{"-n 0", 2, "-n"},
		{"-n 999999999999", 2, "-n: want 1 to 16777216"},
		{"-ranks=", 2, "-ranks has no value"},
		{"-w -1", 2, "-w"},
		{"-ranks 0", 2, "-ranks 0"},
		{"-ranks 2,x", 2, "-ranks 2,x"},
		{"-transport bus", 2, "-transport bus"},
		{"-ranks 2 -r 2", 2, "-r 2"},
		{"-d float31", 2, "float31"},
		{"-o mean", 2, "-o mean"},
		{"-o band", 2, "-o band is not for float32"},
		{"-d bool broadcast reduce", 2, "-o sum is not for bool"},
		{"-place here", 2, "-place here"},
		{"-format xml", 2, "-format xml"},
		{"-heap -registered", 2, "either"},
		{"-ranks 200 -d int8", 2, "not exact"},
		{"-ranks 1 ping-pong", 2, "ping-pong takes 2 ranks"},
		{"-hosts scan", 2, "fast/hosts has no scan"},
		{"-hosts -algorithm ring", 2, "-hosts goes with none"},
		{"-hosts -depth 2", 2, "-hosts goes with none"},
		{"-hosts -overlap", 2, "-hosts goes with none"},
		{"-hosts -tune", 2, "-hosts goes with none"},
		{"-hosts -reproducible", 2, "-reproducible is for -o sum and -o avg, without -hosts and -tune"},
		{"-quantized int4", 2, "-quantized int4: there are int8, float8e4m3, float8e5m2"},
		{"-quantized int8", 2, "-quantized takes -hosts, and -c 0"},
		{"-hosts -quantized int8", 2, "-quantized takes -hosts, and -c 0"},
		{"-hosts -c 0 -quantized int8 -o max", 2, "-quantized is for the all-reduce of float32"},
		{"-hosts -c 0 -quantized int8 -d float64", 2, "-quantized is for the all-reduce of float32"},
		{"-hosts -c 0 -quantized int8 broadcast", 2, "-quantized is for the all-reduce of float32"},
		{"-tune -reproducible", 2, "-reproducible is for"},
		{"-o max -reproducible", 2, "-reproducible is for"},
		{"-ranks 2 -transport inproc -algorithm ring -reproducible -e 8", 1, "does not serve op reproducible sum"},
		{"-ranks 2 -transport inproc -algorithm none -e 8", 1, `no algorithm is called "none"`},
		{"-ranks 3 -n 1 -e 8 -algorithm none", 1, `no algorithm is called "none"`},
	} {
		out, report := runs(t, test.status, strings.Fields(test.args)...)
		if !strings.Contains(out+report, test.says) {
			t.Errorf("%s: %s%s", test.args, out, report)
		}
	}
}

// TestReproducible measures reproducible sums, and says so.
func TestReproducible(t *testing.T) {
	args := []string{"-reproducible", "-o", "avg", "-ranks", "3", "-transport", ranks.InProc, "-b", "8", "-e", "8", "-n",
		"1"}
	if out, _ := runs(t, 0, args...); !strings.Contains(out, ", reproducible") {
		t.Error(out)
	}
	out, _ := runs(t, 0, append(args, "-format", "json")...)
	for _, r := range resultsOf(t, out) {
		if wantPlausible(t, &r, ranks.InProc); !r.Reproducible {
			t.Errorf("%+v", r)
		}
	}
}

func TestOverlapIsAShare(t *testing.T) {
	out, _ := runs(t, 0, "-overlap", "-format", "json", "-ranks", "2", "-b", "1K", "-e", "64K", "-f", "64", "-n", "1",
		"-place", "in", "all-reduce", "ping-pong")
	for _, r := range resultsOf(t, out) {
		if (r.Overlap == nil) != (r.Collective == "ping-pong") || r.Overlap != nil && (*r.Overlap < 0 || *r.Overlap > 1) {
			t.Errorf("%+v", r)
		}
	}
}

func TestManyCommunicators(t *testing.T) {
	for _, transport := range []string{ranks.InProc, ranks.DefaultTransport()} {
		out, _ := runs(t, 0, "-comms", "7", "-format", "json", "-ranks", "3", "-transport", transport, "-n", "1")
		var r bench.ManyComms
		if err := json.Unmarshal([]byte(out), &r); err != nil || r.Communicators != 7 || r.Transport != transport ||
			r.Ranks != 3 ||
			r.MakeMicroseconds <= 0 || r.OneMicroseconds <= 0 || r.EachMicroseconds <= 0 {
			t.Errorf("%v: %s", err, out)
		}
	}
	out, _ := runs(t, 0, "-comms", "2", "-ranks", "2", "-transport", ranks.InProc)
	if !strings.HasPrefix(out, "2 communicators of 2 ranks over inproc: ") {
		t.Error(out)
	}
}

// TestLoadedHeap measures with buffers and garbage on the Go heap.
func TestLoadedHeap(t *testing.T) {
	out, _ := runs(t, 0, "-gc", "-heap", "-format", "json", "-ranks", "2", "-transport", ranks.InProc, "-b", "4K", "-e",
		"64K",
		"-f", "16", "-n", "1", "-c", "3")
	for _, r := range resultsOf(t, out) {
		wantPlausible(t, &r, ranks.InProc)
	}
}

// TestRegistered measures with memory of fast.Alloc.
func TestRegistered(t *testing.T) {
	for _, transport := range []string{ranks.InProc, ranks.DefaultTransport()} {
		out, _ := runs(t, 0, "-registered", "-format", "json", "-ranks", "3", "-transport", transport, "-b", "1K", "-e", "1M",
			"-f", "1024",
			"-n", "1", "all")
		for _, r := range resultsOf(t, out) {
			if wantPlausible(t, &r, transport); !r.Registered {
				t.Errorf("%+v", r)
			}
		}
	}
}

// TestUnderALauncher is rank 0 of a job of 1, as a launcher would start it.
func TestUnderALauncher(t *testing.T) {
	t.Setenv("COLL_RANK", "0")
	t.Setenv("COLL_SIZE", "1")
	out, _ := runs(t, 0, "-e", "8", "-n", "1", "-format", "json")
	if got := resultsOf(t, out); len(got) != 2 || got[0].Ranks != 1 {
		t.Errorf("%+v", got)
	}
	if _, report := runs(t, 2, "-ranks", "2"); !strings.Contains(report, "this is rank 0 of 1 already") {
		t.Error(report)
	}
}

// TestHosts measures the calls of package hosts, among ranks that believe that they are on two hosts.
func TestHosts(t *testing.T) {
	var operations []string
	for _, o := range bench.Operations {
		if o.InHosts() {
			operations = append(operations, o.Name)
		}
	}
	seen := make(map[string]int)
	for _, r := range onHosts(t, operations...) {
		seen[r.Collective]++
		if wantPlausible(t, &r, "mixed"); r.Algorithm != "fast/hosts" {
			t.Errorf("%+v", r)
		}
	}
	if len(operations) != 7 || len(seen) != len(operations) {
		t.Errorf("results of %v, want those of %v", seen, operations)
	}
}

// TestQuantized measures quantized all-reduces among such ranks.
func TestQuantized(t *testing.T) {
	all := onHosts(t, "-quantized", "float8e4m3", "-c", "0", "-place", "in")
	for _, r := range all {
		if r.Collective != "all-reduce" || r.Algorithm != "fast/hosts e4m3/256" || r.Microseconds.Min <= 0 {
			t.Errorf("%+v", r)
		}
	}
	if len(all) != 2 {
		t.Errorf("%d results, want 2", len(all))
	}
}

// onHosts returns the results of the calls of package hosts, among ranks that believe that they are on two hosts.
func onHosts(t *testing.T, more ...string) []bench.Result {
	t.Helper()
	args := []string{"-hosts", "-format", "json", "-b", "8", "-e", "40K", "-f", "5120", "-n", "1"}
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, bytes.Repeat([]byte("7"), 64), 0o600); err != nil {
		t.Fatal(err)
	}
	var all []*exec.Cmd
	var out bytes.Buffer
	for rank := range 3 {
		cmd := collperf(t, append(args, more...)...)
		cmd.Env = append(cmd.Env, fmt.Sprint("COLL_RANK=", rank), "COLL_SIZE=3", fmt.Sprint("COLL_HOST=", rank%2),
			"COLL_STORE=file://"+filepath.Join(dir, "store"), "COLL_SECRET_FILE="+secret)
		cmd.Stderr = os.Stderr
		if rank == 0 {
			cmd.Stdout = &out
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for rank, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	return resultsOf(t, out.String())
}

// TestEndsWithItsParts ends collperf, and ranks of it, while it measures.
func TestEndsWithItsParts(t *testing.T) {
	for _, test := range []struct {
		signal syscall.Signal
		status int
	}{{syscall.SIGINT, statusInterrupted}, {syscall.SIGTERM, statusInterrupted}, {syscall.SIGKILL, -1}} {
		cmd := collperf(t, "-format", "csv", "-ranks", "3", "-N", "1000000", "-e", "8", "-n", "1")
		in, theirs, err := os.Pipe() // ends when all ranks have ended, which have it as their standard error
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd.Stderr = theirs
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		theirs.Close()
		lines := bufio.NewScanner(out)
		for range 3 {
			lines.Scan()
		}
		if err := cmd.Process.Signal(test.signal); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // it may be in the midst of a line
		}
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != test.status {
			t.Errorf("%v: status %d, want %d", test.signal, got, test.status)
		}
		if err := in.SetReadDeadline(time.Now().Add(deadline)); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		if _, err := said.ReadFrom(in); err != nil || said.Len() > 0 {
			t.Errorf("%v: %v, %s", test.signal, err, said.String())
		}
	}
}

func TestPlotsWhatItMeasures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plot.svg")
	runs(t, 0, "-plot", file, "-transport", ranks.InProc, "-ranks", "2", "-e", "1K", "-f", "16", "-n", "1")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "all-reduce, 2 ranks over inproc, in place: 128, ") {
		t.Errorf("%s", text)
	}
	image := filepath.Join(t.TempDir(), "plot.PNG")
	runs(t, 0, "-plot", image, "-transport", ranks.InProc, "-ranks", "2", "-e", "1K", "-f", "16", "-n", "1")
	f, err := os.Open(image)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if c, err := png.DecodeConfig(f); err != nil || c.Width < 1000 || c.Height < 1000 {
		t.Errorf("%d by %d, %v", c.Width, c.Height, err)
	}
	runs(t, 2, "-plot", filepath.Join(file, "none", "none"), "-transport", ranks.InProc, "-ranks", "2", "-e", "8", "-n",
		"1")
}

// TestTune measures for real, and has fast read the table.
func TestTune(t *testing.T) {
	out, _ := runs(t, 0, "-tune", "-transport", ranks.InProc, "-ranks", "2,3", "-b", "64", "-e", "64K", "-f", "1024", "-n",
		"1",
		"all-reduce", "all-gather", "barrier", "ping-pong")
	table, err := fast.DecodeTuning(strings.NewReader(out))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(table.Rules["AllReduce"]) < 2 || len(table.Rules["AllGather"]) < 2 || len(table.Rules["Send"]) > 0 ||
		table.Machine == "" ||
		table.Date == "" || !strings.Contains(table.Command, "-tune") || len(table.Samples) == 0 {
		t.Error(out)
	}
	file := t.TempDir() + "/tune.json"
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("COLL_TUNE", file)
	runs(t, 0, "-ranks", "2", "-e", "64", "-n", "1")
}

// TestTuneGoesOn has a table grow from run to run, over processes: at first there is no time, then one round, then two.
func TestTuneGoesOn(t *testing.T) {
	file := t.TempDir() + "/tune.json"
	args := []string{"-tune", "-keep", file, "-transport", "tcp", "-ranks", "2,3", "-b", "64", "-e", "128", "-n", "1",
		"all-gather"}
	samples := func() int {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		table, err := fast.DecodeTuning(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var all []json.RawMessage
		if err := json.Unmarshal(table.Samples, &all); err != nil {
			t.Error(err)
		}
		return len(all)
	}
	out, report := runs(t, 1, append(args, "-for", "1ns")...)
	if out != "" || !strings.Contains(report, "the same command goes on") {
		t.Errorf("%s%s", out, report)
	}
	got := []int{samples()}
	for _, rounds := range []string{"1", "1", "2"} {
		runs(t, 0, append(args, "-N", rounds, "-for", "1h")...)
		got = append(got, samples())
	}
	if round := got[1]; got[0] != 0 || round == 0 || got[2] != round || got[3] != 2*round {
		t.Errorf("after each run there are %d samples", got)
	}
	runs(t, 2, "-keep", file)
	runs(t, 2, "-tune", "-for", "1s")
}

// TestTuneQuick: the table of a quick measurement is where COLL_TUNE=auto finds it.
func TestTuneQuick(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // of macOS
	out, _ := runs(t, 0, "-tune", "-quick", "-transport", "tcp", "-e", "64", "all-gather")
	path, err := fast.TunedFile()
	if err != nil || !strings.Contains(out, path) || !strings.Contains(out, "COLL_TUNE=auto") {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if table, err := fast.DecodeTuning(f); err != nil || len(table.Rules["AllGather"]) == 0 {
		t.Errorf("%v %v", table, err)
	}
	runs(t, 0, "-tune", "-quick", "-transport", "tcp", "-e", "64", "barrier") // leaves the others
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(`"AllGather"`)) || !bytes.Contains(text, []byte(`"Barrier"`)) {
		t.Errorf("%v\n%s", err, text)
	}
	t.Setenv("COLL_TUNE", "auto")
	runs(t, 0, "-ranks", "2", "-e", "8", "-n", "1")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, report := runs(t, 1, "-ranks", "2", "-e", "8", "-n", "1"); !strings.Contains(report, path) {
		t.Errorf("a table that is none is not read: %s", report)
	}
	t.Setenv("COLL_TUNE", "")
	runs(t, 0, "-tune", "-quick", "-transport", "tcp", "-e", "64", "barrier") // which replaces it
	if text, err = os.ReadFile(path); err != nil || !bytes.Contains(text, []byte(`"Barrier"`)) {
		t.Errorf("%v\n%s", err, text)
	}
	runs(t, 2, "-quick")
}
