package commtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/health"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// reversed returns a communicator of the same ranks, in the opposite order.
func reversed(t *testing.T, all []*fast.Comm) []*fast.Comm {
	t.Helper()
	made := make([]*fast.Comm, len(all))
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
		d, err := c.Split(t.Context(), 0, -c.Rank())
		if err == nil {
			made[d.Rank()] = d
		}
		return err
	}))
	return made
}

// onBoth runs a test on the first communicator of ranks in each world, and on one that Split has made.
func onBoth(t *testing.T, size int, test func(t *testing.T, all []*fast.Comm)) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, size)
			defer closeEach(all)
			test(t, all)
			made := reversed(t, all)
			defer closeEach(made)
			test(t, made)
		})
	}
}

// healthOf returns the health that c reports.
func healthOf(t *testing.T, c *fast.Comm, opts ...health.Option) []health.Rank {
	t.Helper()
	r, err := c.Health(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Ranks) != c.Size() || r.Rank != c.Rank() {
		t.Fatalf("%+v", r)
	}
	for rank := range r.Ranks {
		if r.Ranks[rank].Rank != rank {
			t.Fatalf("%+v", r)
		}
	}
	return r.Ranks
}

// checkMonitored has all ranks come to a MonitoredBarrier, which they pass.
func checkMonitored(t *testing.T, all []*fast.Comm) {
	t.Helper()
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
		return fast.MonitoredBarrier(t.Context(), c)
	}))
}

// awaitIn waits until c sees a rank in a call of op, and for whom it waits there, unless that is Agree.
func awaitIn(t *testing.T, c *fast.Comm, rank int, op string) health.Rank {
	t.Helper()
	for t.Context().Err() == nil {
		x := healthOf(t, c)[rank]
		if slices.ContainsFunc(x.Running, func(c health.Call) bool {
			return c.Op == op && (op == "Agree" || len(c.Waiting) > 0)
		}) {
			return x
		}
	}
	t.Fatalf("rank %d does not come to %s", rank, op)
	return health.Rank{}
}

// TestMonitoredBarrier: no rank returns before all have come, and calls of the same number belong together.
func TestMonitoredBarrier(t *testing.T) {
	onBoth(t, 3, func(t *testing.T, all []*fast.Comm) {
		for last := range all {
			first := make(chan error, 2)
			for rank, c := range all {
				if rank != last {
					go func() { first <- fast.MonitoredBarrier(t.Context(), c, fast.WithLabel("step")) }()
				}
			}
			for rank := range all {
				if rank != last {
					x := awaitIn(t, all[last], rank, "MonitoredBarrier").Running[0]
					if !slices.Contains(x.Waiting, last) || x.Seq != uint64(last)+1 || x.Label != "step" {
						t.Errorf("rank %d is in %+v", rank, x)
					}
				}
			}
			if len(first) > 0 {
				t.Errorf("it ends before rank %d has come: %v", last, <-first)
			}
			if err := errors.Join(fast.MonitoredBarrier(t.Context(), all[last], fast.WithLabel("step")), <-first,
				<-first); err != nil {
				t.Error(err)
			}
		}
		checkHealthy(t, all)
	})
}

// TestMonitoredBarrierNamesAll: the error names all ranks that have not come, and where they are, on the rank whose
// context ends, on those that wait, and on those that come later. Afterwards the communicator is as before.
func TestMonitoredBarrierNamesAll(t *testing.T) {
	onBoth(t, 5, func(t *testing.T, all []*fast.Comm) {
		fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
			return fast.Barrier(t.Context(), c, fast.WithLabel("begin"))
		}))
		errs := make([]chan error, len(all))
		ctx, cancel := context.WithCancel(t.Context())
		for rank := range errs {
			errs[rank] = make(chan error, 1)
		}
		go func() { errs[0] <- fast.MonitoredBarrier(ctx, all[0]) }()
		go func() { errs[1] <- fast.MonitoredBarrier(t.Context(), all[1]) }()
		go func() { errs[3] <- fast.Recv(t.Context(), all[3], make([]int, 4), 2, fast.WithLabel("grads")) }()
		go func() { _, err := all[4].Agree(t.Context(), 1); errs[4] <- err }()
		awaitIn(t, all[2], 1, "MonitoredBarrier")
		awaitIn(t, all[2], 3, "Recv")
		awaitIn(t, all[2], 4, "Agree")
		cancel()
		late := wantLate(t, <-errs[0], 2, 3, 4)
		var own *fast.TimeoutError
		if err := late.Err; !errors.As(err, &own) || !slices.Equal(own.Waiting, []int{2, 3, 4}) ||
			!errors.Is(err, context.Canceled) {
			t.Errorf("rank 0: %v", err)
		}
		if x := late.Ranks[0]; !x.Answered || x.State != "Healthy" || len(x.Running) > 0 || x.Last == nil ||
			x.Last.Op != "Barrier" || x.Last.Label != "begin" || x.Last.Failed {
			t.Errorf("the rank that computes: %+v", x)
		}
		if x := late.Ranks[1].Running; len(x) != 1 || x[0].Op != "Recv" || x[0].Label != "grads" || x[0].Peer != 2 ||
			x[0].Seq != 1 || !slices.Equal(x[0].Waiting, []int{2}) || x[0].Comm != late.Ranks[0].Last.Comm {
			t.Errorf("the rank that receives is in %+v", x)
		}
		if x := late.Ranks[2].Running; len(x) != 1 || x[0].Op != "Agree" {
			t.Errorf("the rank that agrees is in %+v", x)
		}
		if text := late.Error(); !strings.Contains(text, "waiting for ranks [2 3 4]") ||
			!strings.Contains(text, `rank 2 is in no call; its last one, Barrier "begin", call `) ||
			!strings.Contains(text, `rank 3 is in Recv "grads" with rank 2, call 1 of `) {
			t.Error(text)
		}
		var peer *fast.PeerError
		if err := wantLate(t, <-errs[1], 2, 3, 4).Err; !errors.As(err, &peer) || peer.Rank != 0 ||
			!errors.Is(err, context.Canceled) {
			t.Errorf("rank 1: %v", err)
		}
		if err := fast.Send(t.Context(), all[2], make([]int, 4), 3, fast.WithLabel("grads")); err != nil {
			t.Error(err)
		}
		if err := <-errs[3]; err != nil {
			t.Error(err)
		}
		for rank := range all {
			if rank != 4 {
				go func() { _, err := all[rank].Agree(t.Context(), 1); errs[rank] <- err }()
			}
		}
		for rank := range all {
			if err := <-errs[rank]; err != nil {
				t.Error(err)
			}
		}
		for rank, x := range healthOf(t, all[2]) { // what is over is not in progress
			if len(x.Running) > 0 {
				t.Errorf("rank %d is in %+v", rank, x.Running)
			}
		}
		for missing := []int{2, 3, 4}; len(missing) > 0; missing = missing[1:] { // the late ones come, one by one
			err := wantLate(t, fast.MonitoredBarrier(t.Context(), all[missing[0]]), missing...).Err
			if !errors.As(err, &peer) || peer.Rank != 0 {
				t.Errorf("rank %d, which is late: %v", missing[0], err)
			}
		}
		checkMonitored(t, all)
		checkHealthy(t, all)
	})
}

// wantLate returns the LateError in err, which has these ranks.
func wantLate(t *testing.T, err error, ranks ...int) *health.LateError {
	t.Helper()
	var call *fast.CallError
	var late *health.LateError
	if !errors.As(err, &call) || !errors.As(err, &late) || call.Op != "MonitoredBarrier" || call.Seq != 1 {
		t.Fatalf("%+v: %v", call, err)
	}
	var got []int
	for _, x := range late.Ranks {
		got = append(got, x.Rank)
	}
	if !slices.Equal(got, ranks) {
		t.Fatalf("late are %v, want %v: %v", got, ranks, err)
	}
	return late
}

// TestMonitoredBarrierBesideCalls: it passes while calls hang, and they go on.
func TestMonitoredBarrierBesideCalls(t *testing.T) {
	onBoth(t, 3, func(t *testing.T, all []*fast.Comm) {
		sums := make(chan error, len(all))
		for _, c := range all[:2] {
			go func() { sums <- checkSum(t.Context(), c) }()
			awaitIn(t, all[2], c.Rank(), "AllReduce")
		}
		checkMonitored(t, all)
		if len(sums) > 0 {
			t.Error("a call has ended without the third rank:", <-sums)
		}
		if err := errors.Join(checkSum(t.Context(), all[2]), <-sums, <-sums); err != nil {
			t.Error(err)
		}
	})
}

// TestMonitoredBarrierRefused: what is refused counts for nothing, and labels that differ are a mismatch, after which
// the next calls match.
func TestMonitoredBarrierRefused(t *testing.T) {
	onBoth(t, 3, func(t *testing.T, all []*fast.Comm) {
		var none context.Context
		over, cancel := context.WithCancel(t.Context())
		cancel()
		waits := make(chan error)
		go func() { waits <- fast.MonitoredBarrier(t.Context(), all[0], fast.WithLabel("one")) }()
		awaitIn(t, all[0], 0, "MonitoredBarrier")
		for _, test := range []struct {
			err  error
			want error
		}{
			{fast.MonitoredBarrier(t.Context(), all[0]), fast.ErrConcurrentUse},
			{fast.MonitoredBarrier(over, all[1]), context.Canceled},
			{fast.MonitoredBarrier(t.Context(), all[1], fast.WithAlgorithm("ring")), fast.ErrInvalidArgument},
			{fast.MonitoredBarrier(t.Context(), nil), fast.ErrInvalidArgument},
			{fast.MonitoredBarrier(none, all[1]), fast.ErrInvalidArgument},
			{fast.MonitoredBarrier(t.Context(), new(fast.Comm)), fast.ErrInvalidArgument},
		} {
			if !errors.Is(test.err, test.want) {
				t.Errorf("%v, want %v", test.err, test.want)
			}
		}
		third := make(chan error)
		go func() { third <- fast.MonitoredBarrier(t.Context(), all[2], fast.WithLabel("one")) }()
		errs := []error{nil, fast.MonitoredBarrier(t.Context(), all[1], fast.WithLabel("two")), nil}
		errs[0], errs[2] = <-waits, <-third
		for rank, err := range errs {
			var m *fast.MismatchError
			if !errors.As(err, &m) || m.Field != "label" || m.Seq != 1 || rank != 1 && (m.Rank != 1 || m.Mine != `"one"` ||
				m.Theirs != `"two"`) {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
		checkMonitored(t, all)
		checkHealthy(t, all)
	})
}

// TestMonitoredBarrierEnds: when a rank closes, when the communicator is revoked, and when this rank closes it.
func TestMonitoredBarrierEnds(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(all []*fast.Comm) error // rank 1 is in no call
		want error                        // of ranks 0 and 2
	}{
		"another rank closes": {func(all []*fast.Comm) error { return all[1].Close() }, fast.ErrClosed},
		"revoked":             {func(all []*fast.Comm) error { return all[1].Revoke() }, fast.ErrRevoked},
		"aborted":             {func(all []*fast.Comm) error { all[1].Abort(); return nil }, fast.ErrAborted},
		"closed here":         {func(all []*fast.Comm) error { return all[0].Close() }, fast.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, 3, func(t *testing.T, all []*fast.Comm) {
				all = fasttest.Again(t, all)
				defer closeEach(all)
				errs := [2]chan error{make(chan error), make(chan error)}
				for i := range errs {
					go func() { errs[i] <- fast.MonitoredBarrier(t.Context(), all[2*i]) }()
					awaitIn(t, all[1], 2*i, "MonitoredBarrier")
				}
				if err := test.end(all); err != nil {
					t.Error(err)
				}
				for i := range errs {
					if name == "closed here" && i == 1 { // it waits for rank 1 too, which is there: all others have come
						if err := all[1].Close(); err != nil {
							t.Error(err)
						}
					}
					if err := <-errs[i]; !errors.Is(err, test.want) {
						t.Errorf("rank %d: %v, want %v", 2*i, err, test.want)
					}
				}
			})
		})
	}
}

// TestHealth: every rank says where it is, while calls hang, also after the communicator has failed, and of a rank that
// has closed it.
func TestHealth(t *testing.T) {
	onBoth(t, 4, func(t *testing.T, all []*fast.Comm) {
		before := len(healthOf(t, all[0]))
		all = fasttest.Again(t, all)
		defer closeEach(all)
		for rank, x := range healthOf(t, all[2]) {
			if !x.Answered || x.State != "Healthy" || x.Last != nil || len(x.Running) > 0 || x.Stacks != "" || before != 4 {
				t.Errorf("before any call, rank %d: %+v", rank, x)
			}
		}
		fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error { return fast.Barrier(t.Context(), c) }))
		waits := make(chan error)
		go func() { waits <- fast.Broadcast(t.Context(), all[1], make([]int, 3), 0, fast.WithLabel("params")) }()
		awaitIn(t, all[3], 1, "Broadcast")
		for _, c := range all { // also the rank whose call hangs
			ranks := healthOf(t, c, health.Stacks)
			for rank, x := range ranks {
				if !x.Answered || x.Last == nil || x.Last.Op != "Barrier" || x.Last.Seq != 1 ||
					(len(x.Running) == 1) != (rank == 1) ||
					!strings.Contains(x.Stacks, "goroutine ") || len(x.Stacks) > health.MaxStacks {
					t.Errorf("rank %d sees rank %d: %+v", c.Rank(), rank, x)
				}
			}
			if x := ranks[1].Running; len(x) != 1 || x[0].Op != "Broadcast" || x[0].Label != "params" || x[0].Seq != 2 ||
				x[0].Peer != -1 || !slices.Equal(x[0].Waiting, []int{0}) || x[0].Begun < x[0].Still {
				t.Errorf("rank %d sees rank 1 in %+v", c.Rank(), x)
			}
		}
		if err := all[0].Close(); err != nil {
			t.Error(err)
		}
		if err := <-waits; !errors.Is(err, fast.ErrClosed) {
			t.Error(err)
		}
		for _, c := range all[2:] {
			for c.State() == fast.Healthy { // until it has heard of the failure
				runtime.Gosched()
			}
		}
		for rank, x := range healthOf(t, all[2]) {
			want := map[bool]string{true: "Closed", false: "Failed"}[rank == 0]
			if x.State != want || x.Answered != (rank > 0) {
				t.Errorf("after a failure, rank %d: %+v", rank, x)
			}
			if rank > 0 && !strings.Contains(x.Error, "communicator is closed") {
				t.Errorf("why it has failed, rank %d: %q", rank, x.Error)
			}
			if rank == 1 && (x.Last == nil || x.Last.Op != "Broadcast" || !x.Last.Failed) {
				t.Errorf("the call that has failed: %+v", x.Last)
			}
		}
		r, err := all[2].Health(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r)
		var again health.Report
		if err = errors.Join(err, json.Unmarshal(text, &again)); err != nil || fmt.Sprint(&again) != fmt.Sprint(r) {
			t.Errorf("%v\nas JSON %s", r, text)
		}
	})
}

// TestHealthRefused: Health refuses what it cannot do.
func TestHealthRefused(t *testing.T) {
	all := comms(t, 2)
	var none context.Context
	over, cancel := context.WithCancel(t.Context())
	cancel()
	ask := func(ctx context.Context, c *fast.Comm, opts ...health.Option) error {
		_, err := c.Health(ctx, opts...)
		return err
	}
	for _, test := range []struct{ err, want error }{
		{ask(t.Context(), nil), fast.ErrInvalidArgument},
		{ask(t.Context(), new(fast.Comm)), fast.ErrInvalidArgument},
		{ask(none, all[0]), fast.ErrInvalidArgument},
		{ask(t.Context(), all[0], health.Option(77)), fast.ErrInvalidArgument},
		{ask(over, all[0]), context.Canceled},
	} {
		if !errors.Is(test.err, test.want) {
			t.Errorf("%v, want %v", test.err, test.want)
		}
	}
	closeEach(all)
	if err := ask(t.Context(), all[0]); !errors.Is(err, fast.ErrClosed) {
		t.Error(err)
	}
}

// TestAloneIsHealthy: a rank that is alone waits for nobody, and reports itself.
func TestAloneIsHealthy(t *testing.T) {
	for _, w := range worlds {
		all := w.Comms(t, 1)
		checkMonitored(t, all)
		if x := healthOf(t, all[0], health.Stacks)[0]; !x.Answered || x.State != "Healthy" || x.Stacks == "" {
			t.Errorf("%s: %+v", w.Name, x)
		}
		closeEach(all)
	}
}
