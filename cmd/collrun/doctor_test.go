//go:build unix && !aix && !solaris

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collgen/collgen/cmd/collrun/internal/doctor"
)

// diagnose runs collrun doctor -json and returns its findings by name.
func diagnose(t *testing.T, l *launch) map[string]doctor.Finding {
	t.Helper()
	got := l.run()
	var all []doctor.Finding
	if err := json.Unmarshal([]byte(got.out), &all); err != nil || got.report != "" {
		t.Fatalf("status %d, %v:\n%s%s", got.status, err, got.out, got.report)
	}
	found := make(map[string]doctor.Finding)
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

// TestDoctorKnowsTheJob has variables of launchers: what is found, and what is missing.
func TestDoctorKnowsTheJob(t *testing.T) {
	good, open := secretFile(t, 0o600), secretFile(t, 0o644)
	rules := filepath.Join(t.TempDir(), "rules.json")
	if err := os.WriteFile(rules, []byte(`{"rules": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		env   string
		wrong string            // what keeps a program from starting
		says  map[string]string // in the text or the warning
	}{
		{"", "launcher", map[string]string{"launcher": "no launcher"}},
		{"RANK=x WORLD_SIZE=2", "launcher", map[string]string{"launcher": `RANK is "x"`}},
		{"COLL_RANK=0 COLL_SIZE=1", "", map[string]string{"rank": "0 of 1", "transport": "none"}},
		{"COLL_RANK=1 COLL_SIZE=2 COLL_STORE=tcp://127.0.0.1:1 COLL_SECRET_FILE=" + good, "",
			map[string]string{"store": "tcp://127.0.0.1:1", "secret": good, "transport": "not encrypted",
				"rank": "unknown of the host"}},
		{"COLL_RANK=1 COLL_SIZE=2 COLL_STORE=tcp://127.0.0.1:1 COLL_TRANSPORT=tcp COLL_ENCRYPT=1 COLL_SECRET_FD=3", "",
			map[string]string{"secret": "descriptor 3", "transport": "tcp to others"}},
		{"COLL_RANK=1 COLL_SIZE=2 COLL_STORE=tcp://127.0.0.1:1 COLL_SECRET_FILE=" + open, "secret",
			map[string]string{"secret": "want 0600"}},
		{"COLL_RANK=1 COLL_SIZE=2 COLL_STORE=tcp://127.0.0.1:1", "secret", map[string]string{"secret": "COLL_SECRET_FILE"}},
		{"COLL_RANK=1 COLL_SIZE=2 COLL_SECRET_FILE=" + good, "store", map[string]string{"store": "set COLL_STORE"}},
		{"COLL_RANK=1 COLL_SIZE=2 COLL_STORE=local COLL_INTERFACE=none0", "interface",
			map[string]string{"interface": "none0"}},
		{"COLL_RANK=0 COLL_SIZE=1 COLL_TUNE=" + rules, "", map[string]string{"rules": rules}},
		{"COLL_RANK=0 COLL_SIZE=1 COLL_TUNE=" + good, "rules", map[string]string{"rules": "invalid"}},
		{"COLL_TUNE=auto HOME=/nowhere XDG_CACHE_HOME=/nowhere", "launcher", map[string]string{"rules": "built in"}},
	} {
		l := command(t, "doctor", "-json")
		l.cmd.Env = append(l.cmd.Env, strings.Fields(test.env)...)
		found := diagnose(t, l)
		for name, f := range found {
			if f.Fatal != (name == test.wrong) {
				t.Errorf("%s: %+v", test.env, f)
			}
		}
		for name, says := range test.says {
			if f := found[name]; !strings.Contains(f.Text+f.Warning, says) {
				t.Errorf("%s: %+v, want %q", test.env, f, says)
			}
		}
	}
}

// TestDoctorUnderCollrun is a rank that finds all it needs.
func TestDoctorUnderCollrun(t *testing.T) {
	got := command(t, "-n", "2", os.Args[0], "doctor").run()
	if got.status != 0 || !strings.Contains(got.out, "\n[1] rank        1 of 2 of the job, 1 of 2 of the host\n") {
		t.Errorf("status %d, %s%s", got.status, got.out, got.report)
	}
}
