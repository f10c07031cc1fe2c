package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
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
		status, out, errs := conform(t, spoil, "-checks", "3", "-junit", path)
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
	if x := readTAP(t, b.String()); x.bail == "" || x.points[0].ok || len(x.points) < 1 {
		t.Errorf("%+v\n%s", x, &b)
	}
}

// tapPoint is a test point.
type tapPoint struct {
	ok                         bool
	name, directive, diagnosis string
}

// tapOutput is what TAP says.
type tapOutput struct {
	points []tapPoint
	plan   int // -1: there is none
	bail   string
}

var tapPointLine = regexp.MustCompile(`^(not )?ok (\d+) - ((?:[^#\\]|\\.)*?)(?: # (SKIP|TODO)\b ?(.*))?$`)

// readTAP reads TAP, of which each line has to be one that version 14 has.
func readTAP(t *testing.T, text string) (x tapOutput) {
	t.Helper()
	x.plan = -1
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != "TAP version 14" {
		t.Fatalf("it begins with %q", lines[0])
	}
	inside := false
	for _, line := range lines[1:] {
		point := tapPointLine.FindStringSubmatch(line)
		switch {
		case inside:
			if !strings.HasPrefix(line, "  ") {
				t.Errorf("a line of YAML is not indented: %q", line)
			}
			inside = line != "  ..."
			x.points[len(x.points)-1].diagnosis += line + "\n"
		case line == "  ---" && len(x.points) > 0:
			inside = true
		case strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "Bail out!"):
			x.bail = line
		case x.bail != "" || x.plan >= 0:
			t.Errorf("there is more after the end: %q", line)
		case point != nil:
			x.points = append(x.points, tapPoint{point[1] == "", point[3], point[4] + " " + point[5], ""})
			if point[2] != fmt.Sprint(len(x.points)) {
				t.Errorf("point %d has another number: %q", len(x.points), line)
			}
		default:
			if _, err := fmt.Sscanf(line, "1..%d", &x.plan); err != nil || line != fmt.Sprintf("1..%d", x.plan) {
				t.Errorf("this is no line of TAP: %q", line)
			}
		}
	}
	if inside || (x.plan != len(x.points)) != (x.bail != "") {
		t.Errorf("%d points, plan %d, %q", len(x.points), x.plan, x.bail)
	}
	return x
}

// yamlOf returns the value of a string in a diagnosis.
func (p tapPoint) yamlOf(t *testing.T, key string) (value string) {
	t.Helper()
	_, after, _ := strings.Cut(p.diagnosis, "\n  "+key+": ")
	line, _, _ := strings.Cut(after, "\n")
	if err := json.Unmarshal([]byte(line), &value); err != nil {
		t.Errorf("%s: %v in %s", key, err, p.diagnosis)
	}
	return value
}

// TestConformTAP: a point for each primitive, with what fails as YAML, and the reason why others are skipped.
func TestConformTAP(t *testing.T) {
	for spoil, want := range map[string]int{"right": 0, "spoil": 1} {
		status, out, errs := conform(t, spoil, "-checks", "3", "-tap")
		x := readTAP(t, out)
		if status != want || x.bail != "" || x.points[0].name != "Broadcast" || x.points[0].ok != (want == 0) {
			t.Fatalf("status %d, %+v\n%s\n%s", status, x, out, errs)
		}
		if want == 1 && !strings.HasPrefix(x.points[0].yamlOf(t, "again"), "collgen conform -ranks 1 -case") {
			t.Errorf("%s", x.points[0].diagnosis)
		}
		for _, p := range x.points[1:] {
			if !p.ok || !strings.HasPrefix(p.directive, "SKIP it is not supported") {
				t.Errorf("%+v", p)
			}
		}
	}
}

// htmlText returns the text of a page of HTML, which has to be well-formed, and needs nothing besides.
func htmlText(t *testing.T, page string) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var b strings.Builder
	ids, links := map[string]bool{}, []string{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, page)
		}
		switch x := token.(type) {
		case xml.CharData:
			b.Write(x)
		case xml.StartElement:
			for _, a := range x.Attr {
				switch a.Name.Local {
				case "src", "srcset", "action", "onclick":
					t.Errorf("it has %s=%q", a.Name.Local, a.Value)
				case "id":
					ids["#"+a.Value] = true
				case "href":
					links = append(links, a.Value)
				}
			}
			if slices.Contains([]string{"script", "link", "img", "iframe"}, x.Name.Local) {
				t.Errorf("it has <%s>", x.Name.Local)
			}
		}
	}
	for _, link := range links {
		if !ids[link] {
			t.Errorf("it refers to %s", link)
		}
	}
	return b.String()
}

// TestConformHTML: the page has what the table has.
func TestConformHTML(t *testing.T) {
	for spoil, wants := range map[string][]string{
		"right": {"a shell conforms", "Broadcastconforms", "Nothing has failed.", "int8", "Broadcast in place"},
		"spoil": {"a shell does not conform: new failures: 1", "BroadcastFAILS", "element 0 is -1 (ff), want",
			"Broadcast of int8, blocks of 5 elements", "collgen conform -ranks 1 -case '{", ", fails"},
	} {
		path := filepath.Join(t.TempDir(), "report.html")
		status, out, errs := conform(t, spoil, "-checks", "3", "-html", path)
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("status %d, %v\n%s\n%s", status, err, out, errs)
		}
		text := htmlText(t, string(page))
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: there is no %q in\n%s", spoil, want, text)
			}
		}
	}
}

// TestConformInterrupted: a signal ends the tests, and what is known is written; before, files have what was known then.
func TestConformInterrupted(t *testing.T) {
	dir := t.TempDir()
	junit, html := filepath.Join(dir, "report.xml"), filepath.Join(dir, "report.html")
	for _, flag := range []string{"-tap", "-json"} {
		t.Setenv("REPORT", junit)
		ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
		var out, errs bytes.Buffer
		status := run(ctx, []string{"conform", flag, "-ranks", "1", "-checks", "3", "-junit", junit, "-html", html, "--", "bash",
			"testdata/adapter.sh", "{rank}", "{n}", "stop"}, &out, &errs)
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
			if broadcast.Failure != nil || broadcast.Time <= 0 || (gather.Name != "") != isEnd || (rest.Skipped != nil) != isEnd {
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
