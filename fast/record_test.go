package fast

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/tsc"
	"github.com/collgen/collgen/fast/trace"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// watched returns ranks with a flight recorder each.
func watched(t testing.TB, size int, r flight.Config) []*Comm {
	all := comms(t, size)
	for rank, c := range all {
		r.Rank, r.Size, r.Clock = rank, size, tsc.OfTime()
		c.world.record = flight.New(r)
		c.record(c.world.record)
	}
	return all
}

// written returns what a rank's recorder writes.
func written(t *testing.T, c *Comm) *trace.Trace {
	t.Helper()
	var buf bytes.Buffer
	if err := c.WriteTrace(&buf); err != nil {
		t.Fatal(err)
	}
	got, err := trace.Read(&buf)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestTrace records calls that are over, that failed, and that run.
func TestTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := watched(t, 3, flight.Config{Operations: 100, Job: "job\n1"})
		defer leaveAll(all)
		for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
			return errors.Join(AllReduce(t.Context(), c, make([]float32, 8), Max, WithAlgorithm("ring")),
				Broadcast(t.Context(), c, make([]int8, 3), 2, WithAlgorithm("two-level")))
		}) {
			if err != nil {
				t.Fatalf("rank %d: %v", rank, err)
			}
		}
		if err := AllReduce(t.Context(), all[0], []int8{}, 0); err == nil {
			t.Error("it is not refused")
		}
		time.Sleep(time.Second)
		h := StartSendRecv(t.Context(), all[0], make([]int64, 4), 1, make([]int64, 5), 2)
		h.begin()
		synctest.Wait()
		time.Sleep(time.Second)
		got := written(t, all[0])
		header := trace.Header{Format: trace.Format, Size: 3, Job: "job 1", PID: os.Getpid(), Written: int64(2 * time.Second),
			Reason: "on demand"}
		if d := cmp.Diff(header, got.Header, cmpopts.IgnoreFields(trace.Header{}, "Origin", "Host")); d != "" {
			t.Errorf("header (-want +got):\n%s", d)
		}
		first := trace.Entry{Comm: "world", ID: control.WorldID, Size: 3, Seq: 1, Primitive: "AllReduce", Algorithm: "ring",
			Op: "max", Type: "float32", Count: 8, Bytes: 32, Peer: -1, Depth: 1, State: trace.Done}
		second := trace.Entry{Comm: "world", ID: control.WorldID, Size: 3, Seq: 2, Primitive: "Broadcast",
			Algorithm: "two-level", Type: "int8", Count: 3, Bytes: 3, Root: 2, Peer: -1, Depth: 1, Local: 3, State: trace.Done}
		third := trace.Entry{Comm: "world", ID: control.WorldID, Size: 3, Seq: 1, Primitive: "SendRecv", Algorithm: "direct",
			Type: "int64", Count: 4, Bytes: 32, Peer: 1, Depth: 1, Start: int64(time.Second), State: trace.Running,
			Waiting: []int{1, 2}}
		fourth := third
		fourth.Count, fourth.Bytes, fourth.Root, fourth.Peer = 5, 40, 2, 0
		if d := cmp.Diff([]trace.Entry{first, second, third, fourth}, got.Entries); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		if err := SendRecv(t.Context(), all[2], make([]int64, 6), 0, nil, 0); !errors.As(err, new(*MismatchError)) {
			t.Errorf("rank 2: %v", err)
		}
		err := h.Wait(t.Context())
		got = written(t, all[0])
		for _, e := range got.Entries[2:] {
			if e.End != int64(2*time.Second) || e.State != trace.Failed || e.Error != err.Error() ||
				!slices.Equal(e.Waiting, []int{1, 2}) || !slices.Equal(e.Blames, []int{2}) {
				t.Errorf("after it failed with %v: %+v", err, e)
			}
		}
	})
}

// TestTraceOfLabels: an entry has the label of its call, or those of a bucket's tensors. It has none where the call has
// none, whatever the recorder had in its place.
func TestTraceOfLabels(t *testing.T) {
	all := watched(t, 1, flight.Config{Operations: 2})
	defer leaveAll(all)
	ctx, c := t.Context(), all[0]
	b, err := NewBucket[float32](c, Sum, 1000)
	if err != nil {
		t.Fatal(err)
	}
	call := func(opts ...Option) func() error {
		return func() error { return AllReduce(ctx, c, make([]float32, 4), Sum, opts...) }
	}
	bucket := func(labels ...string) func() error {
		return func() error {
			for _, label := range labels {
				if err := b.Add(ctx, make([]float32, 4), WithLabel(label)); err != nil {
					return err
				}
			}
			return errors.Join(b.Add(ctx, make([]float32, 4)), b.Wait(ctx))
		}
	}
	for i, x := range []struct {
		want string
		call func() error
	}{
		{"weights", call(WithLabel("weights"))}, {"", call()}, {"bias", call(WithLabel("bias"))}, {"", call()}, {"", call()},
		{"head", bucket("head")}, {"embedding to head", bucket("embedding", "norm", "head")}, {"", bucket()}, {"", call()},
	} {
		if err := x.call(); err != nil {
			t.Fatal(err)
		}
		entries := written(t, c).Entries
		if got := entries[len(entries)-1].Label; got != x.want {
			t.Errorf("call %d has the label %q, want %q", i, got, x.want)
		}
	}
}

// TestTraceOfFailures: what failed is the call that did, even before its first message, and the one before it is done.
func TestTraceOfFailures(t *testing.T) {
	k := &exec.Collective{Name: "Test", Algorithms: []exec.Algorithm{{Name: "fails", Proved: everything}}}
	try := func(run func(context.Context, *exec.Call) error) func(c *Comm) error {
		return func(c *Comm) error {
			k.Algorithms[0].Run = run
			return do(t.Context(), c, k, []int64{}, nil, &exec.Args{}, nil)
		}
	}
	for name, x := range map[string]struct {
		call func(c *Comm) error
		want []trace.Entry
	}{
		"at once": {try(func(context.Context, *exec.Call) error { return io.ErrNoProgress }),
			[]trace.Entry{{Primitive: "Barrier", State: trace.Done}, {Primitive: "Test", State: trace.Failed}}},
		"panics": {try(func(context.Context, *exec.Call) error { panic("at once") }),
			[]trace.Entry{{Primitive: "Barrier", State: trace.Done}, {Primitive: "Test", State: trace.Failed}}},
		"refused": {try(func(_ context.Context, x *exec.Call) error { return x.Layout(0, 0) }),
			[]trace.Entry{{Primitive: "Barrier", State: trace.Done}}},
		"to itself": {func(c *Comm) error {
			c.exec.Transport.Fail(io.ErrNoProgress)
			return SendRecv(t.Context(), c, []int64{1}, 0, []int64{2}, 0)
		}, []trace.Entry{{Primitive: "Barrier", State: trace.Done}}},
	} {
		t.Run(name, func(t *testing.T) {
			all := watched(t, 2, flight.Config{Operations: 10})
			defer leaveAll(all)
			for rank, err := range fasttest.OnAll(all, func(c *Comm) error { return Barrier(t.Context(), c) }) {
				if err != nil {
					t.Fatalf("rank %d: %v", rank, err)
				}
			}
			func() {
				defer func() { _ = recover() }()
				if err := x.call(all[0]); err == nil {
					t.Error("it succeeds")
				}
			}()
			only := cmp.FilterPath(func(p cmp.Path) bool {
				field := p.Last().String()
				return len(p) == 3 && field != ".Primitive" && field != ".State"
			}, cmp.Ignore())
			if d := cmp.Diff(x.want, written(t, all[0]).Entries, only); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestTraceIsBounded makes more calls than are kept, on several communicators of a rank. What still runs is kept all
// the same.
func TestTraceIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := flight.New(flight.Config{Size: 1, Operations: 16, Clock: tsc.OfTime()})
		waits, others := comms(t, 2), comms(t, 1)
		defer leaveAll(append(waits, others...))
		waits[0].record(r)
		others[0].record(r)
		h := StartBarrier(t.Context(), waits[0])
		synctest.Wait()
		for range 40 {
			if err := Barrier(t.Context(), others[0]); err != nil {
				t.Fatal(err)
			}
		}
		got := written(t, others[0])
		all := got.Entries
		if len(all) != 17 || got.Lost != 24 || all[0].State != trace.Running || all[1].Seq != 25 || all[16].Seq != 40 {
			t.Errorf("%d operations, %d lost: %+v", len(all), got.Lost, all)
		}
		if err := errors.Join(Barrier(t.Context(), waits[1]), h.Wait(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// TestTraceWhileCallsRun writes traces while two communicators of a rank are in use.
func TestTraceWhileCallsRun(t *testing.T) {
	r := flight.New(flight.Config{Size: 1, Operations: 64})
	all := []*Comm{newComm(0, 1, nil), newComm(0, 1, nil)}
	var users sync.WaitGroup
	for _, c := range all {
		c.record(r)
		users.Go(func() {
			for range 500 {
				if err := AllReduce(t.Context(), c, []int64{1}, Sum); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 20 {
		written(t, all[0])
	}
	users.Wait()
	if got := written(t, all[1]); len(got.Entries) != 64 || got.Lost != 936 {
		t.Errorf("%d operations, %d lost", len(got.Entries), got.Lost)
	}
}

// TestTraceFile is written once, when the first call fails.
func TestTraceFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "traces")
	all := watched(t, 2, flight.Config{Operations: 10, Dir: dir})
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
		return Send(t.Context(), c, []int64{1},
			1-c.Rank())
	}) {
		if err == nil {
			t.Errorf("rank %d: two sends without a receive succeed", rank)
		}
	}
	all[1].track.SaveSoon(errors.New("later"))
	leaveAll(all)
	for rank := range all {
		f, err := os.Open(filepath.Join(dir, fmt.Sprintf("rank-%d.jsonl", rank)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := trace.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		if got.Rank != rank || !strings.Contains(got.Reason, "call 1 of world") || got.Entries[0].State != trace.Failed {
			t.Errorf("rank %d: %+v", rank, got)
		}
		_ = f.Close()
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v: %v", left, err)
	}
}

// TestTraceFileCannotBeWritten: it is warned of, and the call's error is the same.
func TestTraceFileCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log fasttest.LockedBuffer
	all := watched(t, 2, flight.Config{Operations: 10, Dir: file, Log: slog.New(slog.NewTextHandler(&log, nil))})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := Barrier(ctx, all[0]); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	leaveAll(all)
	if !strings.Contains(log.String(), "cannot be written") {
		t.Errorf("the log is %q", log.String())
	}
}

// TestSlowCalls warns of a call in which nothing moves, less and less often, and of no other.
func TestSlowCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log fasttest.LockedBuffer
		all := watched(t, 2, flight.Config{Operations: 10, Log: slog.New(slog.NewTextHandler(&log, nil))})
		all[0].world.conditions = func(processes []int) []string {
			return []string{fmt.Sprint("process ", processes[0],
				" is asleep")}
		}
		for rank, err := range fasttest.OnAll(all, func(c *Comm) error { return Barrier(t.Context(), c) }) {
			if err != nil {
				t.Fatalf("rank %d: %v", rank, err)
			}
		}
		time.Sleep(time.Hour) // without a call
		h := StartBarrier(t.Context(), all[0], WithLabel("epoch 3"))
		synctest.Wait()
		time.Sleep(100 * time.Second)
		if err := errors.Join(Barrier(t.Context(), all[1], WithLabel("epoch 3")), h.Wait(t.Context())); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 4 { // after 10, 20, 40 and 80 seconds
			t.Errorf("%d warnings: %s", len(lines), log.String())
		}
		for _, want := range []string{"primitive=Barrier", `label="epoch 3"`, "call=2", "comm=world", "rank=0", "waiting=[1]", "seconds=80",
			`known="[rank 1: process 1 is asleep]"`} {
			if !strings.Contains(lines[len(lines)-1], want) {
				t.Errorf("%q is not in %s", want, lines[len(lines)-1])
			}
		}
		leaveAll(all)
	})
}

// slowly is a transport that moves when a test says so.
type slowly struct {
	transport.Transport
	moved atomic.Uint64
}

func (s *slowly) Moved() uint64 { return s.moved.Load() }

// TestSlowlyIsNotSlow has a call take minutes in which something moves again and again: it is warned of when nothing
// does any more.
func TestSlowlyIsNotSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log fasttest.LockedBuffer
		all := watched(t, 2, flight.Config{Operations: 10, Log: slog.New(slog.NewTextHandler(&log, nil))})
		s := &slowly{Transport: all[0].exec.Transport}
		all[0].track.Transport = s
		h := StartBarrier(t.Context(), all[0])
		h.begin()
		for range 20 {
			time.Sleep(8 * time.Second)
			s.moved.Add(1)
		}
		if log.String() != "" {
			t.Errorf("while something moves: %s", log.String())
		}
		time.Sleep(14 * time.Second)
		if got := log.String(); !strings.Contains(got, "makes no progress") ||
			!strings.Contains(got, "seconds=10 running=17") {
			t.Errorf("when nothing does: %q", got)
		}
		if err := errors.Join(Barrier(t.Context(), all[1]), h.Wait(t.Context())); err != nil {
			t.Error(err)
		}
		leaveAll(all)
	})
}

func TestWriteTraceRefuses(t *testing.T) {
	for _, c := range []*Comm{nil, newComm(0, 1, nil)} {
		if err := c.WriteTrace(io.Discard); !errors.Is(err, ErrInvalidArgument) {
			t.Errorf("without a recorder: %v", err)
		}
	}
	all := watched(t, 1, flight.Config{Operations: 1})
	defer leaveAll(all)
	c := all[0]
	if err := Barrier(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	_ = r.Close()
	if err := c.WriteTrace(w); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("to a writer that fails: %v", err)
	}
}

// TestRecorderAllocates nothing for an operation.
func TestRecorderAllocates(t *testing.T) {
	all := watched(t, 1, flight.Config{Operations: 16, Log: slog.New(slog.DiscardHandler)})
	defer leaveAll(all)
	c := all[0]
	if n := testing.AllocsPerRun(100, func() {
		if err := Barrier(context.Background(), c); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkRecorder is what an operation costs that has nothing to do, with and without a recorder.
func BenchmarkRecorder(b *testing.B) {
	for name, c := range map[string]*Comm{"on": watched(b, 1, flight.Config{Operations: trace.MaxEntries})[0],
		"off": newComm(0, 1, nil)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := Barrier(context.Background(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
