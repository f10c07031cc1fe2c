package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// conform runs collgen conform on one rank, which is a shell.
func conform(t *testing.T, spoil string, flags ...string) (status int, stdout, stderr string) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	args := append(append([]string{"conform", "-ranks", "1", "-checks", "100"}, flags...), "--", "bash",
		"testdata/adapter.sh", "{rank}",
		"{n}", spoil)
	return collgen(t, args...)
}

func TestConform(t *testing.T) {
	status, out, errs := conform(t, "right")
	if status != 0 || !strings.Contains(out, "a shell, on 1 ranks, seed 1") || !strings.Contains(out, "conforms") {
		t.Errorf("status %d\n%s\n%s", status, out, errs)
	}
	if !strings.Contains(out, "not tested: AllReduce\n") || strings.Contains(out, "not tested: Broadcast\n") {
		t.Errorf("what was not tested is said wrong: %s", out)
	}
}

// TestConformFails: what is wrong is shown as small as it can be, with a command that shows it again.
func TestConformFails(t *testing.T) {
	status, out, errs := conform(t, "spoil", "-json")
	var r conformance
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != statusFailed || len(r.Failures) != 1 {
		t.Fatalf("status %d, %v\n%s\n%s", status, err, out, errs)
	}
	c := r.Failures[0].Failure.Case
	if c.Size != 1 || len(c.Steps) != 1 || c.Steps[0].Count != 5 || c.Steps[0].Delay != 0 {
		t.Errorf("the case is %s", c.JSON())
	}
	if want := "'" + c.JSON() + "' -- bash testdata/adapter.sh '{rank}' '{n}' spoil"; !strings.HasSuffix(
		r.Failures[0].Repeat, want) {
		t.Errorf("it is repeated by %s, want %s", r.Failures[0].Repeat, want)
	}
	for spoil, want := range map[string]int{"spoil": statusFailed, "right": 0} {
		if status, out, errs := conform(t, spoil, "-case", c.JSON()); status != want {
			t.Errorf("again, %s: status %d\n%s\n%s", spoil, status, out, errs)
		}
	}
}

// TestConformDrawn: the cases are drawn from the seed, and one that fails is not made smaller where there is no time.
func TestConformDrawn(t *testing.T) {
	cases := make(map[string]bool)
	for _, seed := range []string{"1", "2", "1"} {
		status, out, errs := conform(t, "spoil", "-json", "-shrinking", "0s", "-seed", seed)
		var r conformance
		if err := json.Unmarshal([]byte(out), &r); err != nil || status != statusFailed || len(r.Failures) != 1 {
			t.Fatalf("status %d, %v\n%s\n%s", status, err, out, errs)
		}
		c := r.Failures[0].Failure.Case
		if fmt.Sprint(r.Seed) != seed {
			t.Errorf("seed %d, want %s", r.Seed, seed)
		}
		cases[c.JSON()] = true
	}
	if len(cases) != 2 {
		t.Errorf("two seeds give %d cases: %v", len(cases), cases)
	}
}

// TestConformNothing: a primitive that cannot be called is said not to be tested, and a check of nothing fails.
func TestConformNothing(t *testing.T) {
	status, out, errs := conform(t, "right", "-without", "int8")
	if status != statusFailed || !strings.Contains(errs, "nothing was tested") {
		t.Errorf("status %d\n%s\n%s", status, out, errs)
	}
	if !strings.Contains(out, "not tested: Broadcast, for which no type") || strings.Contains(out, "conforms") {
		t.Errorf("what was not tested is said wrong: %s", out)
	}
}

// TestConformNeverReady: a command that never is a rank is given up, whether it writes or not.
func TestConformNeverReady(t *testing.T) {
	for _, command := range [][]string{{"yes"}, {"cat", "/dev/zero"}, {"sleep", "1000"},
		{"sh", "-c", "sleep 1000", "{rank}"}} {
		status, out, errs := collgen(t, append([]string{"conform", "-ranks", "1", "-starting", "100ms", "--"}, command...)...)
		if status != statusFailed || !strings.Contains(errs, "after -starting 100ms, the command was not ready") {
			t.Errorf("%q: status %d\n%s\n%s", command, status, out, errs)
		}
	}
}

func TestConformUsage(t *testing.T) {
	for _, flags := range [][]string{
		{"-ranks", "0"}, {"-ranks", "1,x"}, {"-primitives", "Shuffle"}, {"-without", "int9"}, {"-case", "{"}, {"-case", "{}"},
		{"more"}, {"-patience", "0s"}, {"-starting", "-1s"}, {"-checks", "-1"}, {"-failures", "0"},
		{"-json", "-primitives", "Shuffle"}, {"-env", "A"}, {"-env", "A=1,2", "-primitives", "Shuffle"}, {"-tap", "-json"},
		{"-case", "{}", "-write-baseline", "known.json"}, {"-junit", "/dev/null"}, {"-html", "/does/not/exist/page"},
		{"-write-baseline", "/does/not/exist/known"}, {"-baseline", "/does/not/exist"},
	} {
		if status, out, errs := conform(t, "right", flags...); status != statusUsage || out != "" {
			t.Errorf("%q: status %d\n%s\n%s", flags, status, out, errs)
		}
	}
	if status, _, _ := collgen(t, "conform"); status != statusUsage {
		t.Errorf("without a command: status %d", status)
	}
	if status, _, errs := collgen(t, "conform", "--", "/does/not/exist"); status != statusFailed {
		t.Errorf("with a command that does not exist: status %d, %s", status, errs)
	}
}
