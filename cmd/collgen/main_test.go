package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// collgen runs a command line.
func collgen(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), args, &out, &errs)
	return status, out.String(), errs.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("%s (go test -update accepts it): %s", path, d)
	}
}

// TestOutput has the output of every command that shows something.
func TestOutput(t *testing.T) {
	for _, test := range []struct{ name, args string }{
		{"help", "help"},
		{"list", "list barrier -catalogue"},
		{"list-now", "list send -n 1..4 -catalogue"},
		{"verify-one", "verify s -n 1 -catalogue"},
		{"verify", "verify broadcast/ch -n 2..5 -catalogue"},
		{"verify-deeper", "verify broadcast/ch -n 8..9 -catalogue"},
		{"explain-ring", "explain allreduce/ring -n 3 -catalogue"},
		{"explain-chain", "explain -depth 2 reduce/chain -n 4 -root 1 -catalogue"},
		{"explain-send", "explain send/direct -n 3 -peer 2 -catalogue"},
		{"explain-primitive", "explain Barrier -n 5 -catalogue"},
		{"explain-call", "explain broadcast -size 4 -bytes 65537 -transport tcp -catalogue"},
		{"explain-rdma", "explain broadcast -size 4 -ranks-per-host 1 -bytes 65537 -transport rdma -catalogue"},
		{"explain-tuned", "explain allreduce -size 4 -bytes 8 -transport tcp -tune " +
			"../../selection/testdata/tune.json -catalogue"},
	} {
		status, stdout, stderr := collgen(t, strings.Fields(test.args)...)
		if status != 0 || stderr != "" {
			t.Errorf("collgen %s: status %d, %s", test.args, status, stderr)
		}
		golden(t, test.name+".golden", stdout)
	}
}

func TestHelp(t *testing.T) {
	for _, c := range commands {
		for _, args := range [][]string{{"help", c.name}, {c.name, "-h"}, {c.name, "something", "-h"}} {
			status, stdout, stderr := collgen(t, args...)
			if status != 0 || stderr != "" || !strings.Contains(stdout, "collgen "+c.name+" [flags] "+c.args) ||
				!strings.Contains(stdout, "-json") {
				t.Errorf("collgen %q: status %d\n%s%s", args, status, stdout, stderr)
			}
		}
	}
}

func TestUsageErrors(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"", "collgen help COMMAND"},
		{"help nothing", `no command "nothing"`},
		{"nothing", `no command "nothing"`},
		{"list -nothing", "-nothing"},
		{"list a b", "one argument is enough"},
		{"list nothing -catalogue", `begins with "nothing"`},
		{"verify -n 0", "within 1..1024"},
		{"verify -n 3..2", "within 1..1024"},
		{"verify -n x..2", "want a number of ranks"},
		{"verify -n 1..99999", "within 1..1024"},
		{"verify -spec -n 3 -catalogue", "-spec goes with neither -n nor -svg"},
		{"explain", "the name of one algorithm"},
		{"explain all -n 3 -catalogue", "want one algorithm: allgather/bidirectional-ring"},
		{"explain allreduce/ring -n 2..3", "one number of ranks"},
		{"list -package . -catalogue", "exclude each other"},
		{"explain allreduce/ring -root 9 -catalogue", "root is 9, want a rank of 4"},
		{"explain broadcast/binomial -n 3 -root 3 -catalogue", "root is 3, want a rank of 3"},
		{"explain send/direct -peer 4 -catalogue", "peer is 4, want a rank of 4"},
		{"explain send/direct -peer -1 -catalogue", "peer is -1, want a rank of 4"},
		{"explain barrier/dissemination -depth 0 -catalogue", "depth is 0, want at least 1"},
		{"explain barrier -transport pigeons -catalogue",
			`no transport "pigeons", want one of inproc, shm, tcp, rdma, mixed`},
		{"explain barrier -bytes -1 -catalogue", "blocks of -1 bytes"},
	} {
		status, stdout, stderr := collgen(t, strings.Fields(test.args)...)
		if status != statusUsage || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("collgen %s: status %d, want %q in it:\n%s%s", test.args, status, test.want, stdout, stderr)
		}
	}
}

func TestFailures(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"explain send/direct -n 1 -catalogue", "cannot send to itself"},
		{"verify send/direct -n 1 -catalogue", "no call for size 1"},
		{"verify -spec -catalogue", "these specifications are the catalogue's: its examples are in package spec/spectest"},
		{"list -package " + t.TempDir(), "go.mod file not found"},
	} {
		status, stdout, stderr := collgen(t, strings.Fields(test.args)...)
		if status != statusFailed || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("collgen %s: status %d, want %q in it:\n%s%s", test.args, status, test.want, stdout, stderr)
		}
	}
}

// TestJSON decodes what each command writes.
func TestJSON(t *testing.T) {
	var entries []entry
	decode(t, &entries, "list", "reducescatter", "-json", "-n", "1..8", "-catalogue")
	ring := slices.IndexFunc(entries, func(e entry) bool { return e.Name == "reducescatter/ring" })
	if ring < 0 || entries[ring].Alpha != "size - 1" || len(entries[ring].Sizes) != 8 ||
		entries[ring].Proof.Schedules != 8 {
		t.Errorf("list: %+v", entries)
	}
	decode(t, &entries, "verify", "-json", "barrier/dissemination", "-n", "3", "-catalogue")
	if len(entries) != 1 || entries[0].Proof.Schedules != 1 {
		t.Errorf("verify: %+v", entries)
	}
	var e explanation
	decode(t, &e, "explain", "allreduce/ring", "-n", "3", "-json", "-catalogue")
	if len(e.Schedule.Ranks) != 3 || e.Measured.Alpha != 4 || *e.Cost.Alpha != 4 || e.Bound.Chunks != 3 ||
		len(e.Promise.After) == 0 {
		t.Errorf("explain: %+v", e)
	}
	var p chosen
	decode(t, &p, "explain", "barrier", "-json", "-catalogue")
	var algorithms []string
	for _, c := range p.Choices {
		algorithms = append(algorithms, c.Algorithm)
	}
	if !slices.Equal(algorithms, []string{"dissemination", "direct", "two-level"}) || p.Bytes != nil {
		t.Errorf("explain: %+v", p)
	}
	p = chosen{}
	decode(t, &p, "explain", "barrier", "-json", "-catalogue", "-bytes", "0", "-transport", "shm")
	if len(p.Calls) != 1 || p.Calls[0].Rule.Algorithm != "direct" || *p.Bytes != 0 {
		t.Errorf("explain: %+v", p)
	}
}

func decode(t *testing.T, to any, args ...string) {
	t.Helper()
	status, stdout, stderr := collgen(t, args...)
	if status != 0 {
		t.Fatalf("collgen %q: status %d, %s", args, status, stderr)
	}
	d := json.NewDecoder(strings.NewReader(stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		t.Fatalf("collgen %q: %v\n%s", args, err, stdout)
	}
}

// TestInterrupt ends a proof that has hardly begun.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if status := run(ctx, []string{"verify", "-catalogue"}, &stdout, &stderr); status != statusFailed ||
		stdout.Len() > 0 || stderr.String() != "context canceled\n" {
		t.Errorf("status %d\n%s%s", status, &stdout, &stderr)
	}
}

// TestProgress shows what is going on where one asks for it, and not otherwise.
func TestProgress(t *testing.T) {
	_, _, stderr := collgen(t, "verify", "barrier/dissemination", "-n", "4", "-v", "-catalogue")
	if stderr != "barrier/dissemination: proved for sizes 4\n" {
		t.Errorf("with -v: %q", stderr)
	}
}
