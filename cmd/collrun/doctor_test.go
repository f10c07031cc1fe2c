//go:build unix && !aix && !solaris

package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// diagnose runs collrun doctor -json and returns its findings by name.
func diagnose(t *testing.T, l *launch) map[string]finding {
	t.Helper()
	got := l.run()
	var all []finding
	if err := json.Unmarshal([]byte(got.out), &all); err != nil || got.report != "" {
		t.Fatalf("status %d, %v:\n%s%s", got.status, err, got.out, got.report)
	}
	found := make(map[string]finding)
	fatal := 0
	for _, f := range all {
		if f.Name == "" || f.Text == "" || found[f.Name].Name != "" {
			t.Errorf("%+v says nothing, or nothing new", f)
		}
		found[f.Name] = f
		if f.Fatal {
			fatal = 1
		}
	}
	if got.status != fatal {
		t.Errorf("status %d, want %d: %+v", got.status, fatal, all)
	}
	return found
}

// TestDoctor has nothing to complain of, in both forms of the report.
func TestDoctor(t *testing.T) {
	text := command(t, "doctor").run()
	for name, f := range diagnose(t, command(t, "doctor", "-json")) {
		if !strings.Contains(text.out, "\n"+name+" ") && !strings.HasPrefix(text.out, name+" ") {
			t.Errorf("%s is not in the text:\n%s", name, text.out)
		}
		if f.Warning != "" && !strings.Contains(text.out, "! "+f.Warning) {
			t.Errorf("the text does not warn of %s", f.Warning)
		}
	}
}

// TestDoctorSeesLimits are limits that the shell sets for it.
func TestDoctorSeesLimits(t *testing.T) {
	l := command(t, "doctor", "-json")
	l.cmd.Args = append([]string{"sh", "-c", `ulimit -n 100; exec "$0" "$@"`}, l.cmd.Args...)
	l.cmd.Path, _ = exec.LookPath("sh")
	l.cmd.Env = append(l.cmd.Env, "GOMAXPROCS=1")
	found := diagnose(t, l)
	if f := found["open files"]; f.Value != 100.0 || !strings.Contains(f.Warning, "ulimit") {
		t.Errorf("%+v", f)
	}
	if f := found["cores"]; f.Value != 1.0 && !strings.Contains(f.Warning, "Go uses 1 ") {
		t.Errorf("%+v", f)
	}
}
