package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

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
		status, out, errs := conform(t, spoil, "-tap")
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
