package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// asCollgen, in the environment, has the test binary be collgen.
const asCollgen = "COLLGEN_TEST_AS_COLLGEN"

func TestMain(m *testing.M) {
	if os.Getenv(asCollgen) != "" {
		main()
	}
	os.Exit(m.Run())
}

// shell runs a command line as one copies it from what was printed.
func shell(t *testing.T, line string, env ...string) (status int, output string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "collgen")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-c", line)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), asCollgen+"=1")
	cmd.Env = append(cmd.Env, env...)
	text, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

func readJUnit(t *testing.T, path string) (s junitSuites) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = xml.Unmarshal(text, &s)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// named returns the case with a name; an empty one if there is none.
func (s junitSuites) named(suite int, name string) junitCase {
	i := slices.IndexFunc(s.Suites[suite].Cases, func(c junitCase) bool { return c.Name == name })
	if i < 0 {
		return junitCase{}
	}
	return s.Suites[suite].Cases[i]
}

// TestConformJUnit: a case that fails has the whole text, and what was not tested is skipped.
func TestConformJUnit(t *testing.T) {
	for spoil, want := range map[string]int{"right": 0, "spoil": 1} {
		path := filepath.Join(t.TempDir(), "report.xml")
		status, out, errs := conform(t, spoil, "-junit", path)
		s := readJUnit(t, path)
		if status != want || len(s.Suites) != 1 || s.Failures != want || s.Suites[0].Failures != want || s.Errors != 0 ||
			s.Tests != len(s.Suites[0].Cases) || s.Skipped != s.Tests-1 || s.Time <= 0 {
			t.Fatalf("status %d, %+v\n%s\n%s", status, s.junitCounts, out, errs)
		}
		c := s.named(0, "Broadcast int8")
		if c.Class != "conform.Broadcast" || c.Time <= 0 || !strings.Contains(c.Output, " cases") || c.Skipped != nil {
			t.Errorf("%+v", c)
		}
		if f := c.Failure; want == 1 && (f.Type != "value" || !strings.Contains(f.Message, "element 0 is -1") ||
			!strings.Contains(f.Text, "again: collgen conform -ranks 1 -case") || !strings.Contains(out, f.Text)) {
			t.Errorf("%+v is not in %s", f, out)
		}
		for name, why := range map[string]string{"AllReduce": "not supported", "not tested: Broadcast in place": "left out"} {
			if c := s.named(0, name); c.Skipped == nil || !strings.Contains(c.Skipped.Message, why) {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

// failure returns a failure with one call, and a problem of a kind.
func failure(kind colltest.ProblemKind, text string, steps ...colltest.Step) *colltest.Failure {
	return &colltest.Failure{Case: colltest.Case{Size: 2, Steps: steps}, Tries: 5, Failed: 5,
		Problems: []colltest.Problem{{Kind: kind, Rank: 1, Text: text}}}
}

// hostile is a text that libraries could print, with characters that XML, YAML and HTML do not have.
const hostile = "\x00\x1b[31m</script>\"'&\xff\ufffe\n...\n---\n  # x\n1..0\u0085\u2028end"

// withHostile returns results that have a hostile text everywhere.
func withHostile() *conformances {
	r := newConformance(environment{{name: "X", value: hostile}})
	r.Name, r.Error, r.Tested = hostile, hostile, map[string]colltest.Counts{}
	r.interrupted = []string{hostile}
	p := r.beginPart("Broadcast")
	p.counts.Calls, p.took = 1, time.Second
	p.failures = []*failedCase{{Primitive: "Broadcast", Failure: failure(colltest.Erred, hostile,
		colltest.Step{Primitive: "Broadcast", Type: spec.TypeInt8, Count: 1}), Repeat: hostile}}
	r.Failures = p.failures
	k := p.failures[0].entry(r.Environment)
	k.Note = hostile
	r.Gone = []knownFailure{k}
	return &conformances{Runs: []*conformance{r, newConformance(nil)}, stopped: errors.New(hostile)}
}

// TestConformHostile: what libraries print makes no output invalid.
func TestConformHostile(t *testing.T) {
	all, h := withHostile(), heading{command: []string{hostile}}
	var b bytes.Buffer
	if err := h.writeJUnit(&b, all); err != nil {
		t.Fatal(err)
	}
	var s junitSuites
	if err := xml.Unmarshal(b.Bytes(), &s); err != nil || !strings.Contains(s.named(0, "Broadcast int8").Failure.Text,
		"\uFFFD\uFFFD[31m</script>\"'&") {
		t.Errorf("%v\n%s", err, &b)
	}
	b.Reset()
	if err := h.writeHTML(&b, all); err != nil {
		t.Fatal(err)
	}
	if text := htmlText(t, b.String()); !strings.Contains(text, `[31m</script>"'&`) {
		t.Errorf("%s", text)
	}
	b.Reset()
	tap := &tapReport{out: &b}
	r := all.Runs[0]
	if err := errors.Join(tap.begin(r), tap.part(r, r.parts[0]), tap.end(r), tap.close(all)); err != nil {
		t.Fatal(err)
	}
	if x := readTAP(t, b.String()); x.bail == "" || len(x.points) != 1 || x.points[0].ok {
		t.Errorf("%+v\n%s", x, &b)
	}
}

// TestConformInterrupted: a signal ends the tests, and what is known is written. Files had what was known before.
func TestConformInterrupted(t *testing.T) {
	dir := t.TempDir()
	junit, html := filepath.Join(dir, "report.xml"), filepath.Join(dir, "report.html")
	for _, flag := range []string{"-tap", "-json"} {
		t.Setenv("REPORT", junit)
		ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
		var out, errs bytes.Buffer
		status := run(ctx, []string{"conform", flag, "-ranks", "1", "-junit", junit, "-html", html, "--",
			"bash", "testdata/adapter.sh", "{rank}", "{n}", "stop"}, &out, &errs)
		stop()
		if status != statusFailed || !strings.Contains(errs.String(), "terminated") {
			t.Fatalf("status %d\n%s\n%s", status, &out, &errs)
		}
		if flag == "-tap" {
			x := readTAP(t, out.String())
			if !strings.Contains(x.bail, "terminated") || !x.points[0].ok || x.points[0].name != "Broadcast" {
				t.Errorf("%+v", x)
			}
		} else {
			var r conformance
			if err := json.Unmarshal(out.Bytes(), &r); err != nil || !strings.Contains(r.Error, "terminated") ||
				!slices.Contains(r.NotTested, "the rest of Gather: it was interrupted") {
				t.Errorf("%v, %+v\n%s", err, r, &out)
			}
		}
		for path, isEnd := range map[string]bool{junit: true, junit + ".copy": false} {
			s := readJUnit(t, path)
			broadcast, gather := s.named(0, "Broadcast int8"), s.named(0, "Gather int8")
			rest := s.named(0, "not tested: the rest of Gather: it was interrupted")
			if broadcast.Failure != nil || broadcast.Time <= 0 || (gather.Name != "") != isEnd ||
				(rest.Skipped != nil) != isEnd {
				t.Errorf("%s: %+v, %+v, %+v", path, broadcast, gather, rest)
			}
		}
		page, err := os.ReadFile(html)
		if text := htmlText(t, string(page)); err != nil || !strings.Contains(text, "Broadcastconforms") ||
			!strings.Contains(text, "Gatherinterrupted") || !strings.Contains(text, "ended early") {
			t.Errorf("%v\n%s", err, text)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".collgen-*")); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
}
