//go:build unix && !aix && !solaris

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/cmd/collrun/internal/diagnosis"
	"github.com/collgen/collgen/fast/trace"
	"github.com/google/go-cmp/cmp"
)

// recorder makes the files of a job's flight recorders.
type recorder struct {
	t      *testing.T
	size   int
	traces []*trace.Trace
}

// newRecorder is of a job of which rank 0 is the first to fail.
func newRecorder(t *testing.T, size int) *recorder {
	r := &recorder{t: t, size: size}
	for rank := range size {
		at := time.Date(2026, 11, 21, 12, 0, rank, 0, time.UTC) // clocks begin one second apart
		h := trace.Header{Format: trace.Format, Rank: rank, Size: size, Job: "train",
			Host: fmt.Sprint("node", rank/2),
			PID:  100 + rank, Origin: at, Written: 1e10, Reason: "it failed"}
		r.traces = append(r.traces, &trace.Trace{Header: h})
	}
	return r
}

// call adds a call to those of some ranks: a collective of all, unless change says otherwise.
func (r *recorder) call(seq uint64, state string, change func(*trace.Entry), of ...int) {
	for _, rank := range of {
		e := trace.Entry{Comm: "world", ID: 7, Rank: rank, Size: r.size, Seq: seq, Primitive: "AllReduce",
			Algorithm: "ring",
			Op:        "sum", Type: "float32", Count: 1000, Peer: -1, Depth: 1, State: state,
			Start: int64(seq)*1e6 - int64(rank)*1e9}
		e.Start += 5e9 // of one clock for all
		if change != nil {
			change(&e)
		}
		r.traces[rank].Entries = append(r.traces[rank].Entries, e)
	}
}

// files writes the files of all ranks but some into a folder.
func (r *recorder) files(without ...int) (dir string) {
	r.t.Helper()
	dir = r.t.TempDir()
	for _, of := range r.traces {
		if slices.Contains(without, of.Rank) {
			continue
		}
		var b strings.Builder
		e := json.NewEncoder(&b)
		if err := e.Encode(of.Header); err != nil {
			r.t.Fatal(err)
		}
		for _, entry := range of.Entries {
			if err := e.Encode(entry); err != nil {
				r.t.Fatal(err)
			}
		}
		name := fmt.Sprintf("rank-%d.jsonl", of.Rank)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	return dir
}

func waiting(ranks ...int) func(*trace.Entry) {
	return func(e *trace.Entry) { e.Waiting = ranks }
}

func blaming(ranks ...int) func(*trace.Entry) {
	return func(e *trace.Entry) { e.Blames = ranks }
}

// message makes an entry one of a message from one rank to another.
func message(from, to int, waiting ...int) func(*trace.Entry) {
	return func(e *trace.Entry) {
		e.Primitive, e.Algorithm, e.Op, e.Root, e.Peer, e.Waiting = "Send", "direct", "", from, to, waiting
		if e.Rank == to {
			e.Primitive = "Recv"
		}
	}
}

// row makes an entry one of a communicator of ranks 2 and 3.
func row(waiting ...int) func(*trace.Entry) {
	return func(e *trace.Entry) {
		e.Comm, e.ID, e.Rank, e.Size, e.Waiting = "row", 8, e.Rank-2, 2, waiting
	}
}

// TestOddOneOut plants an odd rank in the records of four.
func TestOddOneOut(t *testing.T) {
	const running, done, failed = trace.Running, trace.Done, trace.Failed
	for _, test := range []struct {
		name    string
		plant   func(r *recorder)
		without []int // of these there is no file
		odd     []int
		reason  string
		says    string
	}{
		{"nobody", func(r *recorder) {}, nil, []int{}, "none", "No rank is the odd one out"},
		{"all ended in the same call", func(r *recorder) { r.call(7, failed, nil, 0, 1, 2, 3) }, nil, []int{}, "none",
			"No rank"},
		{"behind", func(r *recorder) { r.call(7, failed, waiting(2), 0, 1, 3) }, nil, []int{2}, "behind",
			"ranks 0, 1 and 3 came to call 7 of world, others did not: " +
				"the last operation of rank 2 is AllReduce, call 6 of world (done)"},
		{"behind, after a call with a label", func(r *recorder) {
			r.call(7, done, func(e *trace.Entry) { e.Label = "loss" }, 0, 1, 2, 3)
			r.call(8, failed, waiting(2), 0, 1, 3)
		}, nil, []int{2}, "behind", `the last operation of rank 2 is AllReduce "loss", call 7 of world (done)`},
		{"ahead", func(r *recorder) { r.call(7, running, waiting(0), 1) }, nil, []int{1}, "ahead",
			"nobody else came to call 7 of world"},
		{"another count", func(r *recorder) {
			r.call(7, failed, nil, 0, 1, 3)
			r.call(7, failed, func(e *trace.Entry) { e.Count = 10 }, 2)
		}, nil, []int{2}, "mismatch", "in call 7 of world, the count is 10 on rank 2 and 1000 on ranks 0, 1 and 3"},
		{"another operation, which goes before the count", func(r *recorder) {
			r.call(7, failed, nil, 0, 1, 3)
			r.call(7, failed, func(e *trace.Entry) { e.Primitive, e.Count = "Broadcast", 10 }, 2)
		}, nil, []int{2}, "mismatch", "the operation is Broadcast on rank 2 and AllReduce on"},
		{"two and two", func(r *recorder) {
			r.call(7, failed, nil, 0, 1)
			r.call(7, failed, func(e *trace.Entry) { e.Op = "" }, 2, 3)
		}, nil, []int{}, "disagree", "Ranks 0, 1, 2 and 3 disagree: in call 7"},
		{"killed", func(r *recorder) { r.call(7, failed, waiting(2), 0, 1, 3) }, []int{2}, []int{2}, "missing",
			"it wrote no trace: it was killed, or none of its calls failed; the others ended in call 7 of world"},
		{"two killed", func(r *recorder) { r.call(7, failed, nil, 0, 1) }, []int{2, 3}, []int{2, 3}, "missing",
			"Ranks 2 and 3"},
		{"a mismatch, and the others gave up early", func(r *recorder) {
			r.call(7, failed, nil, 0)
			r.call(7, failed, func(e *trace.Entry) { e.Count = 10 }, 1)
		}, []int{3}, []int{}, "disagree", "the count is 1000 on rank 0 and 10 on rank 1"},
		{"waited for", func(r *recorder) {
			r.call(7, running, waiting(2), 0, 1, 3)
			r.call(7, running, nil, 2)
		}, nil, []int{2}, "waited for", "others wait in call 7 of world"},
		{"blamed", func(r *recorder) {
			r.call(7, failed, blaming(2), 0, 1, 3)
			r.call(7, failed, nil, 2)
		}, nil, []int{2}, "blamed", "others put the blame there in call 7 of world"},
		{"it has aborted", func(r *recorder) {
			blame := func(e *trace.Entry) { e.Blames, e.Waiting = []int{2}, []int{(e.Rank + 3) % 4} }
			r.call(7, failed, blame, 0, 1, 2, 3)
		}, nil, []int{2}, "blamed", "others put the blame there in call 7 of world"},
		{"blamed, but it waited", func(r *recorder) {
			r.call(7, failed, blaming(2), 0, 1)
			r.call(7, failed, waiting(3), 2)
			r.call(7, running, nil, 3)
		}, nil, []int{3}, "waited for", "others wait in call 7 of world"},
		{"all wait in a circle", func(r *recorder) {
			for rank := range 4 {
				r.call(7, running, waiting((rank+3)%4), rank)
			}
		}, nil, []int{}, "none", "No rank"},
		{"a message that nobody sends", func(r *recorder) { r.call(1, running, message(0, 1, 0), 1) }, nil, []int{0},
			"behind",
			"rank 1 came to message 1 from 0 to 1 of world, others did not: the last operation of rank 0 is AllReduce"},
		{"a message that came", func(r *recorder) { r.call(1, done, message(0, 1), 0, 1) }, nil, []int{}, "none", ""},
		{"a message that is longer than expected", func(r *recorder) {
			r.call(1, failed, message(0, 1), 0)
			r.call(1, failed, func(e *trace.Entry) { message(0, 1)(e); e.Count = 10 }, 1)
		}, nil, []int{}, "disagree", "in message 1 from 0 to 1 of world, the count is 1000 on rank 0 and 10 on rank 1"},
		{"a message that nobody has taken yet", func(r *recorder) { r.call(1, done, message(0, 1), 0) }, nil, []int{}, "none",
			""},
		{"a ring of messages that one rank keeps", func(r *recorder) {
			r.call(1, running, message(3, 0, 3), 0)
			r.call(1, done, message(0, 1), 0, 1)
			r.call(1, done, message(1, 2), 1)
			r.call(1, running, message(2, 3, 2), 3)
		}, nil, []int{2}, "behind", "rank 3 came to message 1 from 2 to 3"},
		{"in another communicator", func(r *recorder) {
			r.call(7, running, waiting(2, 3), 0, 1)
			r.call(1, running, row(1), 2)
			r.call(1, done, row(), 3)
		}, nil, []int{3}, "behind", "the last operation of rank 2 is AllReduce, call 1 of row (running)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRecorder(t, 4)
			r.call(5, done, nil, 0, 1, 2, 3)
			r.call(6, done, nil, 0, 1, 2, 3)
			test.plant(r)
			got := command(t, "trace", "-json", r.files(test.without...)).run()
			var a diagnosis.Report
			if err := json.Unmarshal([]byte(got.out), &a); err != nil || got.status != 0 || got.report != "" {
				t.Fatalf("status %d, %v: %s", got.status, err, got.report)
			}
			v := a.Verdict
			if !slices.Equal(v.Odd, test.odd) || v.Reason != test.reason || !strings.Contains(v.Sentence, test.says) {
				t.Errorf("%+v\nwant %v, %s, %s", v, test.odd, test.reason, test.says)
			}
		})
	}
}

// TestTraceTable is what people get: the sentence, who gave up first, and the last operations of all ranks in order.
func TestTraceTable(t *testing.T) {
	r := newRecorder(t, 3)
	r.call(5, trace.Done, nil, 2, 1, 0)
	r.call(6, trace.Done, nil, 0, 1, 2)
	r.call(1, trace.Done, message(2, 0), 2)
	r.call(7, trace.Failed, func(e *trace.Entry) { e.Waiting, e.Error = []int{2}, "waiting for ranks [2]" }, 0)
	r.call(7, trace.Failed, blaming(0), 1)
	got := command(t, "trace", "-last", "2", r.files()).run()
	want := []string{
		"Rank 2 is the odd one out: ranks 0 and 1 came to call 7 of world, others did not: " +
			"the last operation of rank 2 is Send, message 1 from 2 to 0 of world (done).",
		"Rank 0, on node0, wrote its trace first: it failed",
		"",
		"seconds   rank  communicator  call  operation                               state",
		"0.000000  2     world         1     Send from 2 to 0 direct float32 × 1000  done",
		"0.005000  0     world         6     AllReduce ring sum float32 × 1000       done",
		"0.005000  1     world         6     AllReduce ring sum float32 × 1000       done",
		"0.005000  2     world         6     AllReduce ring sum float32 × 1000       done",
		"0.006000  0     world         7     AllReduce ring sum float32 × 1000       failed, waiting for [2]: waiting " +
			"for ranks [2]",
		"0.006000  1     world         7     AllReduce ring sum float32 × 1000       failed, at the fault of [0]",
		"",
	}
	if d := cmp.Diff(want, strings.Split(got.out, "\n")); d != "" || got.status != 0 || got.report != "" {
		t.Errorf("status %d, %s\n%s", got.status, got.report, d)
	}
}

// TestTraceFiles is files that are not what they should be.
func TestTraceFiles(t *testing.T) {
	r := newRecorder(t, 3)
	r.call(1, trace.Done, nil, 0, 1, 2)
	dir := r.files()
	file := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		if err := os.WriteFile(file(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := newRecorder(t, 4).files()
	for _, test := range []struct {
		args   []string
		status int
		says   []string
	}{
		{nil, 2, []string{"no file or folder"}},
		{[]string{"-last", "0", dir}, 2, []string{"-last: want at least 1"}},
		{[]string{"-h"}, 0, []string{"COLL_TRACE"}},
		{[]string{file("none")}, 1, []string{"none: no such file"}},
		{[]string{t.TempDir()}, 1, []string{"there is no trace to read"}},
		{[]string{dir, file("rank-1.jsonl")}, 1, []string{"are both of rank 1"}},
		{[]string{file("rank-0.jsonl"), other}, 1, []string{`of job "train" with 3 ranks`, `of job "train" with 4`}},
		{[]string{file("rank-0.jsonl"), file("rank-1.jsonl")}, 0, []string{"Rank 2 is the odd one out: it wrote no trace"}},
	} {
		got := command(t, append([]string{"trace"}, test.args...)...).run()
		for _, says := range test.says {
			if got.status != test.status || !strings.Contains(got.out+got.report, says) {
				t.Errorf("%q: status %d, %s%s", test.args, got.status, got.out, got.report)
			}
		}
	}
	write("rank-2.jsonl", "{\"format\":\"another\"}\n")
	write(".rank-123", "half a file that its rank did not finish")
	got := command(t, "trace", dir).run()
	if got.status != 0 || !strings.Contains(got.report, "rank-2.jsonl is left out: line 1") ||
		!strings.HasPrefix(got.out, "Rank 2 is the odd one out") {
		t.Errorf("status %d, %s%s", got.status, got.out, got.report)
	}
}
