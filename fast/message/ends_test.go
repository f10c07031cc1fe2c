package message

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
)

// over returns a context that ends when the test has called the function.
func over(t *testing.T) (context.Context, func()) { return context.WithCancel(t.Context()) }

// awaitCalls waits until this rank is in so many calls.
func awaitCalls(t *testing.T, c *fast.Comm, n int) {
	t.Helper()
	for running := 0; running != n; {
		r, err := c.Health(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		running = len(r.Ranks[c.Rank()].Running)
	}
}

// wantCall checks that err is that of a call with a rank, of that name.
func wantCall(t *testing.T, err error, op string, peer int) {
	t.Helper()
	var call *fast.CallError
	if !errors.As(err, &call) || call.Op != op || call.Peer != peer || call.Seq != 0 {
		t.Errorf("%v is not the error of %s with rank %d", err, op, peer)
	}
}

// wantTimeout checks that err is the end of the context of a call that has waited for ranks.
func wantTimeout(t *testing.T, err error, ranks ...int) {
	t.Helper()
	var late *fast.TimeoutError
	if !errors.As(err, &late) || !errors.Is(err, context.Canceled) || !slices.Equal(late.Waiting, ranks) ||
		len(fast.Culprits(err)) > 0 {
		t.Errorf("got %v, want that it has waited for %v", err, ranks)
	}
}

// TestTypeAndLength: messages of another type, or longer than the buffer, are errors of the receiver alone. They are
// consumed, and the next message is received.
func TestTypeAndLength(t *testing.T) {
	each(t, 2, func(t *testing.T, all []*fast.Comm) {
		for _, n := range []int{10, 100_000} {
			for i, from := range []int{0, 1} {
				s := []*Handle{
					StartSend(t.Context(), all[from], make([]float32, n), 1, 5),
					StartSend(t.Context(), all[from], make([]int64, n), 1, 5),
					StartSend(t.Context(), all[from], slices.Repeat([]int64{7}, n), 1, 5),
				}
				buf := make([]int64, n)
				got, err := Recv(t.Context(), all[1], buf, from, 5)
				var differs *fast.MismatchError
				if !errors.As(err, &differs) || differs.Rank != from || differs.Field != "type" ||
					differs.Mine != "int64" || differs.Theirs != "float32" || got != status(from, 5, n) {
					t.Errorf("%v, %v", got, err)
				}
				if first := uint64(1); i+n == 10 && differs != nil && differs.Seq != first {
					t.Errorf("it is message %d", differs.Seq)
				}
				got, err = Recv(t.Context(), all[1], buf[:n-1], from, 5)
				wantCall(t, err, "message.Recv", from)
				if !errors.Is(err, ErrTruncated) || got != status(from, 5, n) ||
					!strings.Contains(err.Error(), fmt.Sprintf("%d elements", n)) ||
					!strings.Contains(err.Error(), fmt.Sprintf("room for %d", n-1)) {
					t.Errorf("%v, %v", got, err)
				}
				if slices.ContainsFunc(buf, func(x int64) bool { return x != 0 }) {
					t.Error("the buffer was written to")
				}
				if got, err = Recv(t.Context(), all[1], buf, from, 5); err != nil || got.Count != n || buf[n-1] != 7 {
					t.Errorf("%v, %v", got, err)
				}
				for _, h := range s {
					if err := h.Wait(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		}
	})
}

// TestContextEnds: calls whose context ends name the ranks that they have waited for. A message that was announced and
// given up is not received. All others go on.
func TestContextEnds(t *testing.T) {
	each(t, 3, func(t *testing.T, all []*fast.Comm) {
		ctx, cancel := over(t)
		errs := make(chan error)
		r := StartRecv(ctx, all[0], make([]int, 1), 1, 3)
		a := StartRecv(ctx, all[0], make([]int, 1), AnySource, 3)
		s := StartSend(ctx, all[0], make([]int, 100_000), 1, 4)
		go func() {
			_, err := Probe(ctx, all[0], 2, AnyTag)
			errs <- err
		}()
		if _, err := Probe(t.Context(), all[1], 0, 4); err != nil {
			t.Error(err)
		}
		awaitCalls(t, all[0], 4)
		short, stop := over(t)
		stop()
		if err := r.Wait(short); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "goes on") {
			t.Error(err)
		}
		cancel()
		wantTimeout(t, r.Wait(t.Context()), 1)
		wantCall(t, r.Wait(t.Context()), "message.Recv", 1)
		wantTimeout(t, a.Wait(t.Context()), 1, 2)
		wantTimeout(t, s.Wait(t.Context()), 1)
		wantTimeout(t, <-errs, 2)
		if err := Send(t.Context(), all[0], []int{8}, 1, 5); err != nil {
			t.Error(err)
		}
		if _, err := Probe(t.Context(), all[1], 0, 5); err != nil { // behind the news that the other was given up
			t.Error(err)
		}
		n := make([]int, 1)
		if got, err := Recv(t.Context(), all[1], n, AnySource, AnyTag); err != nil || got.Tag != 5 || n[0] != 8 {
			t.Error(got, err)
		}
		if err := Send(t.Context(), all[1], []int{9}, 0, 3); err != nil {
			t.Error(err)
		}
		if got, err := Recv(t.Context(), all[0], n, 1, 3); err != nil || got.Count != 1 || n[0] != 9 {
			t.Error(got, err)
		}
		if err := Send(ctx, all[0], n, 1, 3); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		for _, c := range all {
			if c.State() != fast.Healthy {
				t.Error(c.Err())
			}
		}
	})
}

// TestCancel: a receive that is canceled takes no message, and one that has a message cannot be canceled.
func TestCancel(t *testing.T) {
	each(t, 2, func(t *testing.T, all []*fast.Comm) {
		none := make([]int, 1)
		first := StartRecv(t.Context(), all[0], none, AnySource, AnyTag)
		second := StartRecv(t.Context(), all[0], make([]int, 1), 1, 2)
		if !first.Cancel() || first.Cancel() || !errors.Is(first.Wait(t.Context()), ErrCanceled) {
			t.Error("the first receive was not canceled, or twice")
		}
		s := StartSend(t.Context(), all[1], []int{4}, 0, 2)
		if err := errors.Join(s.Wait(t.Context()), second.Wait(t.Context())); err != nil {
			t.Error(err)
		}
		if done, err := second.Test(); second.Cancel() || s.Cancel() || !done || err != nil || none[0] != 0 {
			t.Errorf("canceled when it was over; the first buffer has %v", none)
		}
		long := StartSend(t.Context(), all[1], make([]int, 100_000), 0, 2)
		if done, err := long.Test(); done || err != nil || long.Cancel() || long.Status() != (Status{}) {
			t.Error(done, err)
		}
		if _, err := Recv(t.Context(), all[0], make([]int, 100_000), 1, 2); err != nil {
			t.Error(err)
		}
		<-long.Done()
		if done, err := long.Test(); !done || err != nil {
			t.Error(done, err)
		}
	})
}

// TestCloses: what a rank has sent before it closes is received. After that, calls that need it fail, and those with
// AnySource when all others have closed.
func TestCloses(t *testing.T) {
	each(t, 3, func(t *testing.T, all []*fast.Comm) {
		buf := make([]int, 1)
		if err := Send(t.Context(), all[1], []int{6}, 0, 1); err != nil {
			t.Error(err)
		}
		lost := StartSend(t.Context(), all[1], make([]int, 100_000), 0, 1)
		wait := []*Handle{
			StartRecv(t.Context(), all[0], make([]int, 1), 1, 2),
			StartSend(t.Context(), all[0], make([]int, 100_000), 1, 2),
		}
		anyone := StartRecv(t.Context(), all[0], make([]int, 1), AnySource, 2)
		if _, err := Probe(t.Context(), all[1], 0, 2); err != nil { // the rank knows of what it will not receive
			t.Error(err)
		}
		if err := all[1].Close(); err != nil {
			t.Error(err)
		}
		if err := lost.Wait(t.Context()); !errors.Is(err, fast.ErrClosed) || errors.As(err, new(*fast.PeerError)) {
			t.Error(err)
		}
		for _, h := range wait {
			wantClosed(t, h.Wait(t.Context()), 1)
		}
		if got, err := Recv(t.Context(), all[0], buf, AnySource, AnyTag); err != nil || buf[0] != 6 || got.Source != 1 {
			t.Error(got, buf, err)
		}
		wantClosed(t, Send(t.Context(), all[0], buf, 1, 1), 1)
		_, err := Probe(t.Context(), all[0], 1, 1)
		wantClosed(t, err, 1)
		_, _, err = TryProbe(all[0], 1, 1)
		wantClosed(t, err, 1)
		if done, err := anyone.Test(); done {
			t.Error(err)
		}
		go func() { _ = all[2].Close() }()
		if err := anyone.Wait(t.Context()); !errors.Is(err, fast.ErrClosed) {
			t.Error(err)
		}
		if _, err := Recv(t.Context(), all[0], buf, AnySource, 7); !errors.Is(err, fast.ErrClosed) {
			t.Error(err)
		}
		mine := StartRecv(t.Context(), all[0], buf, 0, 7)
		if err := all[0].Close(); err != nil {
			t.Error(err)
		}
		if err := mine.Wait(t.Context()); !errors.Is(err, fast.ErrClosed) || errors.As(err, new(*fast.PeerError)) {
			t.Error(err)
		}
		if err := Send(t.Context(), all[0], buf, 0, 7); !errors.Is(err, fast.ErrClosed) {
			t.Error(err)
		}
	})
}

// wantClosed checks that err says that a rank has closed the communicator.
func wantClosed(t *testing.T, err error, rank int) {
	t.Helper()
	var peer *fast.PeerError
	if !errors.As(err, &peer) || peer.Rank != rank || !errors.Is(peer.Err, fast.ErrClosed) {
		t.Errorf("got %v, want that rank %d has closed", err, rank)
	}
}

// TestGivenUp: when a rank gives the communicator up, all calls of the others fail as calls of package fast do.
func TestGivenUp(t *testing.T) {
	for what, x := range map[string]struct {
		end  func(c *fast.Comm)
		want error
	}{
		"aborts":  {func(c *fast.Comm) { c.Abort() }, fast.ErrAborted},
		"revokes": {func(c *fast.Comm) { _ = c.Revoke() }, fast.ErrRevoked},
	} {
		t.Run(what, func(t *testing.T) {
			each(t, 3, func(t *testing.T, all []*fast.Comm) {
				wait := []*Handle{
					StartRecv(t.Context(), all[0], make([]int, 1), 1, 2),
					StartRecv(t.Context(), all[0], make([]int, 1), AnySource, 2),
					StartSend(t.Context(), all[0], make([]int, 100_000), 2, 2),
					StartRecv(t.Context(), all[2], make([]int, 1), 2, 2),
				}
				x.end(all[2])
				for _, h := range wait {
					if err := h.Wait(t.Context()); !errors.Is(err, x.want) {
						t.Error(err)
					}
				}
				if err := Send(t.Context(), all[0], []int{1}, 1, 1); !errors.Is(err, fast.ErrAborted) {
					t.Error(err)
				}
			})
		})
	}
}

// TestRefused: bad arguments are refused, and change nothing.
func TestRefused(t *testing.T) {
	each(t, 2, func(t *testing.T, all []*fast.Comm) {
		c, ctx, n := all[0], t.Context(), []int{1}
		var none context.Context
		second := func(_ Status, err error) error { return err }
		third := func(_ Status, _ bool, err error) error { return err }
		for i, err := range []error{
			Send(ctx, c, n, 2, 0), Send(ctx, c, n, AnySource, 0), Send(ctx, c, n, 1, AnyTag), Send(ctx, c, n, 1, -2),
			Send(ctx, nil, n, 1, 0), Send(none, c, n, 1, 0), Send(ctx, new(fast.Comm), n, 1, 0),
			Send(ctx, c, n, 1, 0, fast.WithDepth(1)), Send(ctx, c, n, 1, 0, fast.WithLabel("\n")),
			second(Recv(ctx, c, n, -2, 0)), second(Recv(ctx, c, n, 2, 0)), second(Recv(ctx, c, n, 1, -2)),
			second(Probe(ctx, c, -2, 0)), third(TryProbe(c, 0, -2)), third(TryProbe(nil, 0, 0)),
			StartSend(ctx, c, n, 7, 0).Wait(ctx), StartRecv(ctx, c, n, 7, 0).Wait(ctx), new(Handle).Wait(ctx),
			StartRecv(ctx, c, n, 7, 0).Wait(none),
		} {
			if !errors.Is(err, fast.ErrInvalidArgument) {
				t.Errorf("call %d: %v", i, err)
			}
		}
		var h *Handle
		if done, err := h.Test(); !done || !errors.Is(err, fast.ErrInvalidArgument) || h.Cancel() {
			t.Error(done, err)
		}
		<-h.Done()
		if _, found, err := TryProbe(all[1], AnySource, AnyTag); found || err != nil {
			t.Error(found, err)
		}
	})
}

// TestHealthShows: the calls that wait are in the report of every rank, with their labels, ranks and tags.
func TestHealthShows(t *testing.T) {
	each(t, 3, func(t *testing.T, all []*fast.Comm) {
		ctx, cancel := over(t)
		one := StartRecv(ctx, all[1], make([]int, 1), 2, 17, fast.WithLabel("halo"))
		two := StartRecv(ctx, all[1], make([]int, 1), AnySource, AnyTag)
		r, err := all[0].Health(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text := r.String()
		for _, words := range []string{`message.Recv of tag 17 "halo" with rank 2 on world`,
			"message.Recv on world", "[0 2]"} {
			if !strings.Contains(text, words) {
				t.Errorf("the report lacks %q: %s", words, text)
			}
		}
		cancel()
		_, _ = one.Wait(t.Context()), two.Wait(t.Context())
		if r, err = all[0].Health(t.Context()); err != nil || strings.Contains(r.String(), "message.") {
			t.Error(err, r)
		}
	})
}

// lines is a log, of which each line is sent to a channel.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

// TestWarns: a warning names the rank that Recv, and Wait for a started call, wait for.
func TestWarns(t *testing.T) {
	log := make(lines, 1000)
	if err := fast.Run(t.Context(), 2, func(ctx context.Context, c *fast.Comm) error {
		for tag, started := range []bool{false, true} {
			if c.Rank() == 1 { // sends when rank 0 is warned of
				for line := range log {
					if strings.Contains(line, "message.Recv") && strings.Contains(line, "waiting=[1]") {
						break
					}
				}
				if err := Send(ctx, c, []int{7}, 0, tag); err != nil {
					return err
				}
				continue
			}
			x := make([]int, 1)
			var err error
			if started {
				err = StartRecv(ctx, c, x, 1, tag).Wait(ctx)
			} else {
				_, err = Recv(ctx, c, x, 1, tag)
			}
			if err != nil || x[0] != 7 {
				return fmt.Errorf("started: %v: %v, %w", started, x, err)
			}
			for len(log) > 0 {
				<-log
			}
		}
		return nil
	}, fast.WithLogger(slog.New(slog.NewTextHandler(log, nil))), fast.WithSlowCall(50*time.Millisecond)); err != nil {
		t.Error(err)
	}
}
