package fast

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestCallError has calls fail after they have begun: their errors say which they were.
func TestCallError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			call func(ctx context.Context, c *Comm) error
			want CallError
			text string
		}{
			"collective": {
				func(ctx context.Context, c *Comm) error {
					return AllReduce(ctx, c, make([]int64, 9), Sum, WithAlgorithm("two-shot"))
				},
				CallError{Comm: "world", Rank: 1, Size: 4, Seq: 3, Op: "AllReduce", Algorithm: "two-shot", Peer: -1,
					Waiting: []int{0, 2, 3}},
				"AllReduce, call 3 of world, rank 1 of 4: waiting for ranks [0 2 3]: context deadline exceeded",
			},
			"started": {
				func(ctx context.Context, c *Comm) error {
					return StartBroadcast(ctx, c, make([]int64, 9), 0, WithAlgorithm("binomial")).Wait(t.Context())
				},
				CallError{Comm: "world", Rank: 1, Size: 4, Seq: 3, Op: "Broadcast", Algorithm: "binomial", Peer: -1,
					Waiting: []int{0}},
				"Broadcast, call 3 of world, rank 1 of 4: waiting for ranks [0]: context deadline exceeded",
			},
			"receive": {
				func(ctx context.Context, c *Comm) error { return Recv(ctx, c, make([]int64, 9), 2) },
				CallError{Comm: "world", Rank: 1, Size: 4, Seq: 1, Op: "Recv", Algorithm: "direct", Peer: 2, Waiting: []int{2}},
				"Recv with rank 2, call 1 of world, rank 1 of 4: waiting for ranks [2]: context deadline exceeded",
			},
			"both at once": {
				func(ctx context.Context, c *Comm) error {
					return SendRecv(ctx, c, make([]int64, 9), 0, make([]int64, 9), 3)
				},
				CallError{Comm: "world", Rank: 1, Size: 4, Seq: 1, Op: "SendRecv", Algorithm: "direct", Peer: 0,
					Waiting: []int{0, 3}},
				"SendRecv with rank 0, call 1 of world, rank 1 of 4: waiting for ranks [0 3]: context deadline exceeded",
			},
		} {
			all := comms(t, 4)
			inStep(t, all, 2, func(c *Comm) error { return Barrier(t.Context(), c) })
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := test.call(ctx, all[1])
			cancel()
			var got *CallError
			var timeout *TimeoutError
			if !errors.As(err, &got) || !errors.As(err, &timeout) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if d := cmp.Diff(test.want, *got, cmpopts.IgnoreFields(CallError{}, "Err")); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
			if err.Error() != test.text {
				t.Errorf("%s: %v, want %s", name, err, test.text)
			}
			if later := Barrier(t.Context(), all[1]); !errors.Is(later, ErrAborted) ||
				!errors.Is(later, context.DeadlineExceeded) {
				t.Errorf("%s, later: %v", name, later)
			}
			leaveAll(all)
		}
	})
}

// TestCallErrorWaiting has calls fail in the ways that are no timeout: the errors list the ranks that they were waiting
// for, whoever is at fault.
func TestCallErrorWaiting(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			for how, end := range map[string]func(all []*Comm){
				"another rank aborts":    func(all []*Comm) { all[2].Abort() },
				"another rank closes":    func(all []*Comm) { _ = all[2].Close() },
				"this rank aborts":       func(all []*Comm) { all[0].Abort() },
				"it is revoked":          func(all []*Comm) { all[1].Revoke() },
				"another call elsewhere": func(all []*Comm) { _ = Barrier(t.Context(), all[2]) },
			} {
				all := w.Comms(t, 3)
				errs := make(chan error)
				go func() { errs <- Recv(t.Context(), all[0], make([]int64, 9), 2) }()
				for start := time.Now(); len(all[0].exec.Transport.Waiting()) == 0 && time.Since(start) < time.Minute; {
					time.Sleep(time.Millisecond)
				}
				end(all)
				err := <-errs
				var got *CallError
				if !errors.As(err, &got) || !slices.Equal(got.Waiting, []int{2}) || !strings.Contains(err.Error(),
					": waiting for ranks [2]: ") {
					t.Errorf("%s: %v", how, err)
				}
				fasttest.CloseAll(t, all)
			}
		})
	}
}

// TestPlainErrors are those of calls that did not begin.
func TestPlainErrors(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c := comms(t, 2)[0]
	for _, err := range []error{
		AllReduce(t.Context(), c, []int64{1}, 0), Barrier(ended, c), StartBarrier(ended, c).Wait(t.Context()),
	} {
		var call *CallError
		if err == nil || errors.As(err, &call) {
			t.Errorf("%v names a call that was made", err)
		}
	}
	_ = c.Close()
}

// TestUnmadeCalls: what is refused because the communicator is closed, or in use, says which one that is.
func TestUnmadeCalls(t *testing.T) {
	c := comms(t, 1)[0]
	c.name = "the one"
	c.membership.TryBegin()
	_, err := c.Agree(t.Context(), 0)
	checkUnmade(t, "Agree", c, err, ErrConcurrentUse)
	c.membership.End()
	c.busy.Set()
	checkUnmade(t, "Free", c, Free(c, []byte{1}), ErrConcurrentUse)
	c.busy.Unset()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = c.Group(t.Context(), []int{0})
	checkUnmade(t, "Group", c, err, ErrClosed)
	_, err = c.Split(t.Context(), 0, 0)
	checkUnmade(t, "Split", c, err, ErrClosed)
	checkUnmade(t, "Revoke", c, c.Revoke(), ErrClosed)
	checkUnmade(t, "Free", c, Free(c, []byte{1}), ErrClosed)
}

func checkUnmade(t *testing.T, what string, c *Comm, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || err.Error() != fmt.Sprintf("%s on %v: %v", what, c, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// TestUnmadeCallsSayWhere: the error of a call that is not made names the operation, the communicator and this rank, as
// that of a call that failed does, and says but once that the communicator was given up.
func TestUnmadeCallsSayWhere(t *testing.T) {
	for want, end := range map[string]func(c *Comm){
		"Barrier on world, rank 1 of 2: communicator was given up: rank 0: rank died": func(c *Comm) {
			c.fail(&PeerError{Rank: 0, Err: ErrDied})
		},
		"Barrier on world, rank 1 of 2: rank 0: communicator was given up: why": func(c *Comm) {
			c.handleNotice(wire.Note{From: 0, Body: []byte(`{"State":1,"By":0,"Rank":0,"Text":"why"}`)})
		},
		"Barrier on world, rank 1 of 2: communicator was given up by Abort": func(c *Comm) { c.Abort() },
		"Barrier on world, rank 1 of 2: communicator is closed":             func(c *Comm) { _ = c.Close() },
	} {
		all := worlds[0].Comms(t, 2)
		end(all[1])
		err := Barrier(t.Context(), all[1])
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
		if all[1].State() != Closed && !errors.Is(err, ErrAborted) {
			t.Errorf("%v is not ErrAborted", err)
		}
		fasttest.CloseAll(t, all)
	}
}

// TestNoHandle: a handle that is nobody's neither panics nor is waited for.
func TestNoHandle(t *testing.T) {
	for _, h := range []*Handle{nil, {}} {
		done, err := h.Test()
		for _, err := range []error{err, h.Wait(t.Context()), h.Err()} {
			if !done || !errors.Is(err, ErrInvalidArgument) {
				t.Error(done, err)
			}
		}
		<-h.Done()
	}
}

// TestCloseTellsOfRefusals: Close gives the errors of calls that were not started and that nobody has asked for, also
// after more of them whose errors were asked for than are kept.
func TestCloseTellsOfRefusals(t *testing.T) {
	c := newComm(0, 1, nil)
	for range 2 * maxRefusals {
		if err := StartAllReduce(t.Context(), c, []float32{1}, BAnd).Wait(t.Context()); !errors.Is(err, ErrInvalidArgument) {
			t.Fatal(err)
		}
	}
	if n := len(c.refusals.all); n != 1 {
		t.Errorf("%d handles are kept, want the last one", n)
	}
	StartAllReduce(t.Context(), c, []float32{1}, BOr)
	if err := c.Close(); !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), "bor") {
		t.Errorf("Close: %v", err)
	}
}

// TestBadBucket: what no call of a bucket could do is refused when it is made.
func TestBadBucket(t *testing.T) {
	all := worlds[0].Comms(t, 1)
	defer fasttest.CloseAll(t, all)
	_, none := NewBucket[int](nil, Sum, 64)
	_, empty := NewBucket[int](new(Comm), Sum, 64)
	_, wrong := NewBucket[float64](all[0], BAnd, 64)
	for _, err := range []error{none, empty, wrong} {
		if !errors.Is(err, ErrInvalidArgument) {
			t.Error(err)
		}
	}
	if !strings.Contains(wrong.Error(), "not defined on") {
		t.Error(wrong)
	}
}

// TestLateGroup: a Group whose context had ended before it began does not count, and the members can make it all the
// same.
func TestLateGroup(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 2)
			defer fasttest.CloseAll(t, all)
			over, cancel := context.WithCancel(t.Context())
			cancel()
			var timeout *TimeoutError
			if _, err := all[0].Group(over, []int{0, 1}); !errors.As(err, &timeout) {
				t.Errorf("after its context had ended: %v", err)
			}
			for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
				g, err := c.Group(t.Context(), []int{0, 1})
				if err == nil {
					err = errors.Join(Barrier(t.Context(), g), g.Close())
				}
				return err
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}

// TestSlowCallTooSoon: a time after which every call would be slow, or the timer would spin, is refused.
func TestSlowCallTooSoon(t *testing.T) {
	for _, after := range []time.Duration{-time.Second, 0, 1, flight.MinSlow - 1} {
		if _, err := Init(t.Context(), WithRank(0, 1), WithSlowCall(after)); !errors.Is(err, ErrInvalidArgument) {
			t.Errorf("%v: %v", after, err)
		}
	}
}

// TestFieldsAreDocumented: go doc shows no fields of a type that is defined elsewhere. So the comments of its alias do.
func TestFieldsAreDocumented(t *testing.T) {
	comments := map[string]string{}
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSpec); ok && s.Assign.IsValid() { // an alias, of which go doc shows no fields
			comments[s.Name.Name] = s.Doc.Text()
		}
		return true
	})
	for _, typ := range []reflect.Type{reflect.TypeFor[PeerError](), reflect.TypeFor[MismatchError](),
		reflect.TypeFor[DeadlockError](), reflect.TypeFor[TimeoutError]()} {
		var want []string
		for i := range typ.NumField() {
			f := typ.Field(i)
			want = append(want, fmt.Sprint(f.Name, " ", f.Type))
		}
		if got := fieldsIn(comments[typ.Name()]); !reflect.DeepEqual(got, want) {
			t.Errorf("the comment of %s has the fields %q, want %q", typ.Name(), got, want)
		}
		delete(comments, typ.Name())
	}
	if len(comments) > 0 {
		t.Errorf("of other types nobody has looked for fields: %v", comments)
	}
}

// fieldsIn returns the fields of the struct that a comment shows, "Name type" each.
func fieldsIn(comment string) (fields []string) {
	_, body, _ := strings.Cut(comment, "struct {\n")
	body, _, _ = strings.Cut(body, "}")
	for line := range strings.Lines(body) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(strings.ReplaceAll(line, ",", " "))
		for _, name := range words[:max(0, len(words)-1)] {
			fields = append(fields, name+" "+words[len(words)-1])
		}
	}
	return fields
}
