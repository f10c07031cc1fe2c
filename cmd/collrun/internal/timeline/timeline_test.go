//go:build unix && !aix && !solaris

package timeline

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/cmd/collrun/internal/diagnosis"
	"github.com/collgen/collgen/fast/trace"
	"github.com/google/go-cmp/cmp"
)

// report is that of two ranks whose clocks are one second apart: an all-reduce that ended, a message in flight, and a
// call that has failed, of which the end is not known.
func report(t *testing.T) *diagnosis.Report {
	t.Helper()
	dir := t.TempDir()
	for rank := range 2 {
		of := trace.Trace{Header: trace.Header{Format: trace.Format, Rank: rank, Size: 2, Job: "j</script>", Host: "h",
			PID: 7, Origin: time.Unix(int64(1000+rank), 0), Written: 4e9, Reason: "on demand"}}
		e := trace.Entry{Comm: "world", ID: 1, Rank: rank, Size: 2, Seq: 1, Primitive: "AllReduce", Algorithm: "ring",
			Op: "sum", Type: "int8", Count: 5, Peer: -1, Depth: 1, Start: 2e9 - int64(rank)*1e9, State: trace.Done}
		e.End = e.Start + 1500
		of.Entries = append(of.Entries, e)
		if rank == 1 {
			e.Comm, e.ID, e.Seq, e.Primitive, e.Peer, e.State, e.End = "row", 2, 1, "Recv", 1, trace.Running, 0
			e.Start, e.Op, e.Label = 3e9, "", "grads"
			of.Entries = append(of.Entries, e)
			e.Comm, e.ID, e.Seq, e.Primitive, e.Peer, e.State = "world", 1, 2, "Barrier", -1, trace.Failed
			e.Start, e.Error, e.Label = 3e9+500, "<b>", ""
			of.Entries = append(of.Entries, e)
		}
		var b bytes.Buffer
		if err := of.Write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, string(rune('a'+rank))+".jsonl"), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	job, err := diagnosis.Read([]string{dir}, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	return job.Report(math.MaxInt)
}

// TestChrome: each call is an event of its rank's process and its communicator's thread, and a message is two.
func TestChrome(t *testing.T) {
	var b bytes.Buffer
	if err := Chrome(&b, report(t)); err != nil {
		t.Fatal(err)
	}
	var got struct{ TraceEvents []map[string]any }
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	type row struct {
		name, phase          string
		process, thread      int
		at, microseconds, id float64
	}
	var rows []row
	for _, e := range got.TraceEvents {
		if e["ph"] == "M" {
			if e["name"] == "thread_name" && e["pid"] == 1.0 && e["tid"] == 1.0 {
				if d := cmp.Diff(e["args"], map[string]any{"name": "row"}); d != "" {
					t.Error(d)
				}
			}
			continue
		}
		number := func(name string) float64 {
			n, _ := e[name].(float64)
			return n
		}
		rows = append(rows, row{e["name"].(string), e["ph"].(string), int(number("pid")), int(number("tid")),
			number("ts"), number("dur"), number("id")})
	}
	want := []row{{"AllReduce", "X", 0, 0, 0, 1.5, 0}, {"AllReduce", "X", 1, 0, 0, 1.5, 0},
		{"grads", "b", 1, 1, 2e6, 0, 3}, {"grads", "e", 1, 1, 3e6, 0, 3}, {"Barrier", "X", 1, 0, 2e6 + .5, 0, 0}}
	if d := cmp.Diff(want, rows, cmp.AllowUnexported(row{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, words := range []string{`"error":"\u003cb\u003e"`, `"rank 0 (h, process 7)"`, `"count":5`} {
		if !strings.Contains(b.String(), words) {
			t.Errorf("there is no %s in %s", words, b.String())
		}
	}
}

// TestHTML: the page has the calls, and nothing that came from a trace is taken for HTML.
func TestHTML(t *testing.T) {
	var b bytes.Buffer
	if err := HTML(&b, report(t)); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	_, after, _ := strings.Cut(text, `<script id="data" type="application/json">`)
	inside, _, _ := strings.Cut(after, "</script>")
	var d data
	if err := json.Unmarshal([]byte(inside), &d); err != nil {
		t.Fatal(err, inside)
	}
	want := data{Ranks: []string{"rank 0", "rank 1"}, Comms: []string{"world", "row"},
		Kinds: []string{"AllReduce", "Recv", "Barrier"}, Words: []string{"AllReduce ring sum int8 × 5", "done",
			`Recv "grads" from 0 to 1 ring int8 × 5`, "running", "Barrier ring int8 × 5", "failed: <b>"},
		Calls: [][8]int64{{0, 0, 0, 1500, 0, 0, 1, 1}, {1, 0, 0, 1500, 0, 0, 1, 1}, {1, 1, 2e9, 3e9, 1, 2, 3, 0},
			{1, 0, 2e9 + 500, 2e9 + 500, 2, 4, 5, 2}}, Seqs: []uint64{1, 1, 1, 2}}
	if d := cmp.Diff(want, d); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if strings.Contains(text, "<b>") || strings.Count(text, "</script>") != 2 ||
		!strings.Contains(text, "Calls of job j&lt;") {
		t.Error("what a trace says is in the page as it is:", text)
	}
}
