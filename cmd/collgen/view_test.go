package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collgen/collgen/verify/view"
)

// viewed runs collgen view with -json, and returns the data of the page.
func viewed(t *testing.T, args ...string) *view.Data {
	t.Helper()
	status, stdout, stderr := collgen(t, append([]string{"view", "-json"}, args...)...)
	d := new(view.Data)
	if err := json.Unmarshal([]byte(stdout), d); status != 0 || err != nil {
		t.Fatalf("collgen view %q: status %d, %v\n%s", args, status, err, stderr)
	}
	return d
}

func TestView(t *testing.T) {
	d := viewed(t, "-catalogue", "-ranks", "6", "-ranks-per-host", "3", "allreduce/two-level")
	if d.Call != "6 ranks, 3 on each host" || d.Failure != nil || d.Layout.Kind != view.Hosts || d.Rounds == 0 {
		t.Errorf("%+v", d)
	}
	names := map[string]bool{}
	for _, a := range d.Costs.Algorithms {
		names[a.Name] = true
	}
	if !names["allreduce/two-level"] || !names["allreduce/ring"] || names["allreduce/leaders"] || d.Costs.Bound == nil {
		t.Errorf("costs of %v, bound %v", names, d.Costs.Bound)
	}
	if last := d.Proof[len(d.Proof)-1]; !strings.Contains(last, "by induction for every number of ranks (all) by ") {
		t.Errorf("%q", d.Proof)
	}
}

// TestViewPlan: a plan that explain writes is shown, and one with a mistake is refuted.
func TestViewPlan(t *testing.T) {
	_, text, _ := collgen(t, "explain", "-plan", "-catalogue", "-n", "3", "allreduce/ring")
	file := filepath.Join(t.TempDir(), "plan.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	if d := viewed(t, "-plan", file); d.Failure != nil || d.Name != "allreduce/ring" || d.Plan != text {
		t.Errorf("%+v", d.Failure)
	}
	write(strings.Replace(text, `,"plus":"in[2]"`, "", 1))
	d := viewed(t, "-plan", file)
	if d.Failure == nil || d.Failure.Check != "postcondition" || len(d.Wrong) != 3 {
		t.Errorf("%+v, wrong are %v", d.Failure, d.Wrong)
	}
	status, stdout, _ := collgen(t, "view", "-plan", file, "-o", file+".html")
	if page, _ := os.ReadFile(file + ".html"); status != 0 ||
		!strings.Contains(stdout, "refuted: a place does not hold") ||
		!strings.HasPrefix(string(page), "<!doctype html>") {
		t.Errorf("%d, %s", status, stdout)
	}
	write("{}")
	if status, _, stderr := collgen(t, "view", "-plan", file); status != statusFailed ||
		!strings.Contains(stderr, "plan.json: the plan is of version 0") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// TestViewEvents: a call of a run that is not there is refused. What calls there are is tested in verify/replay.
func TestViewEvents(t *testing.T) {
	dir := t.TempDir()
	events := `{"format":"collgen events 1","process":0,"size":1,"job":""}` + "\n" +
		`{"n":1,"comm":"1","do":"joined","member":{"name":"world","rank":0,"size":1,"processes":[0],` +
		`"transport":"inproc"}}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "rank-0.events"), []byte(events), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := collgen(t, "view", "-catalogue", "-events", dir); status != statusFailed ||
		!strings.Contains(stderr, "process 0 has made 0 calls, and -call is 1") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// TestViewCounterexample: where there is no counterexample, none is shown.
func TestViewCounterexample(t *testing.T) {
	status, _, stderr := collgen(t, "view", "-catalogue", "-counterexample", "-ranks", "3", "barrier/dissemination")
	if status != statusFailed || !strings.Contains(stderr, "has no counterexample: it was proved for up to 3 ranks") {
		t.Errorf("%d, %s", status, stderr)
	}
}

func TestViewUsage(t *testing.T) {
	for _, args := range [][]string{{"view"}, {"view", "-plan", "x", "allreduce/ring"}, {"view", "-plan", "x", "-events",
		"y"}, {"view", "-n", "2..3", "allreduce/ring"}} {
		if status, _, stderr := collgen(t, args...); status != statusUsage ||
			!strings.Contains(stderr, "or -plan with a file") {
			t.Errorf("collgen %q: %d, %s", args, status, stderr)
		}
	}
}

// TestViewAll: there is a page and a picture of each algorithm, with its Go, and an index that links to them.
func TestViewAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site")
	status, stdout, stderr := collgen(t, "view", "-catalogue", "-all", "-o", dir, "broadcast")
	if status != 0 || !strings.Contains(stdout, "algorithms of 1 primitives") {
		t.Fatalf("%d, %s%s", status, stdout, stderr)
	}
	index := read(t, filepath.Join(dir, "index.html"))
	for _, name := range []string{"broadcast-binomial", "broadcast-k-nomial-8", "broadcast-two-level"} {
		if !strings.Contains(index, `href="`+name+`.html"`) || !strings.Contains(index, `src="`+name+`.svg"`) {
			t.Errorf("the index has no %s", name)
		}
		if svg := read(t, filepath.Join(dir, name+".svg")); !strings.HasPrefix(svg, "<svg ") {
			t.Errorf("%s.svg is %.40s", name, svg)
		}
		if page := read(t, filepath.Join(dir, name+".html")); !strings.Contains(page, `"go":"// zbroadcast.go\n\n// `) {
			t.Errorf("%s.html has no Go", name)
		}
	}
	if !strings.Contains(index, "by induction for every number of ranks (all)") || !strings.Contains(index, "广播") {
		t.Error("the index does not say what was proved, or has no text in Chinese")
	}
	if status, _, stderr := collgen(t, "view", "-all"); status != statusUsage ||
		!strings.Contains(stderr, "-o with a folder") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// TestPictures: the pictures of the documents are what make pictures draws.
func TestPictures(t *testing.T) {
	for file, args := range map[string]string{
		"allreduce-ring": "allreduce/ring", "broadcast-binomial": "-ranks 8 broadcast/binomial",
	} {
		status, svg, stderr := collgen(t, append([]string{"view", "-catalogue", "-svg"}, strings.Fields(args)...)...)
		if kept := read(t, "../../docs/pictures/"+file+".svg"); status != 0 || kept != svg {
			t.Errorf("docs/pictures/%s.svg is not what make pictures writes: %s", file, stderr)
		}
	}
}
