package health

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/google/go-cmp/cmp"
)

// aReport has ranks of all kinds.
var aReport = Report{Comm: "world", Rank: 1, Ranks: []Rank{
	{Answered: true, State: "Healthy", Process: "running", Running: []Call{
		{Comm: "world", Op: "AllReduce", Label: "loss", Seq: 7, Peer: -1, Begun: 3210 * time.Millisecond,
			Waiting: []int{1, 3}},
		{Comm: "world/1.0", Op: "Agree", Peer: -1, Begun: 20 * time.Millisecond}},
		Last: &Call{Comm: "world", Op: "Barrier", Seq: 6, Peer: -1, Begun: 4 * time.Second}},
	{Rank: 1, Answered: true, State: "Healthy",
		Last: &Call{Comm: "world", Op: "Send", Seq: 2, Peer: 3, Begun: time.Minute}},
	{Rank: 2, State: "Closed"},
	{Rank: 3, Process: "stopped; its last heartbeat came 2s ago"},
	{Rank: 4, Answered: true, State: "Failed", Error: "rank died", Stacks: "goroutine 1 [running]:\n"},
}}

// TestTable: people can read the report.
func TestTable(t *testing.T) {
	const want = `world, as rank 1 of 5 sees it
rank  state    is in                              for   waits for  last call                                          process
0     Healthy  AllReduce "loss", call 7 of world  3.2s  [1 3]      Barrier, call 6 of world, begun 4s ago             running
               Agree on world/1.0                 20ms
1     Healthy  no call                                             Send with rank 3, call 2 of world, begun 1m0s ago
2     Closed   does not answer
3     ?        does not answer                                                                                        stopped; its last heartbeat came 2s ago
4     Failed   no call
rank 4 has failed: rank died

stacks of rank 4:
goroutine 1 [running]:

`
	if d := cmp.Diff(want, aReport.String()); d != "" {
		t.Error(d)
	}
}

// TestJSON: the report survives it.
func TestJSON(t *testing.T) {
	text, err := json.Marshal(&aReport)
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(aReport, got); d != "" {
		t.Error(d)
	}
}

// TestLateError: it says of each rank where it is, and of many ranks only of the first.
func TestLateError(t *testing.T) {
	late := &LateError{Ranks: aReport.Ranks, Err: &wire.TimeoutError{Waiting: []int{0, 1, 2, 3, 4},
		Err: context.DeadlineExceeded}}
	const want = `waiting for ranks [0 1 2 3 4]: context deadline exceeded; rank 0 is in AllReduce "loss", call 7 of world, ` +
		`for 3.2s, and waits for ranks [1 3]; its process: running; rank 1 is in no call; its last one, Send with rank 3, ` +
		`call 2 of world, began 1m0s ago; rank 2 has closed the communicator; rank 3 does not answer; its process: ` +
		`stopped; its last heartbeat came 2s ago; rank 4 is in no call, and no earlier one is known`
	if d := cmp.Diff(want, late.Error()); d != "" {
		t.Error(d)
	}
	if !errors.Is(late, context.DeadlineExceeded) {
		t.Error("it is no timeout")
	}
	many := &LateError{Ranks: make([]Rank, 1000), Err: late.Err}
	if text := many.Error(); len(text) > 1000 || !strings.HasSuffix(text, "; and so on, 1000 ranks in all") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}
