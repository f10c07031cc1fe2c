package commtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// warnings are those of a rank: the first of each text goes to who waits for it.
type warnings struct {
	slog.Handler
	came chan string
}

func newWarnings() *warnings { return &warnings{slog.DiscardHandler, make(chan string, 100)} }

func (w *warnings) Enabled(context.Context, slog.Level) bool { return true }

func (w *warnings) Handle(_ context.Context, r slog.Record) error {
	text := new(strings.Builder)
	r.Attrs(func(a slog.Attr) bool {
		fmt.Fprint(text, a.Key, "=", a.Value, " ")
		return true
	})
	select {
	case w.came <- text.String():
	default:
	}
	return nil
}

// await waits for a warning with all these words.
func (w *warnings) await(t *testing.T, words ...string) {
	t.Helper()
	var others []string
	for {
		select {
		case text := <-w.came:
			missing := false
			for _, word := range words {
				missing = missing || !strings.Contains(text, word)
			}
			if !missing {
				return
			}
			others = append(others, text)
		case <-time.After(time.Minute):
			t.Errorf("no warning has %q, but there are %q", words, others)
			return
		}
	}
}

const slowAtOnce = 5 * time.Millisecond

// TestSlowWaits: who waits for another rank in what is no call of a collective is told so, and for whom. The other rank
// comes only then.
func TestSlowWaits(t *testing.T) {
	logs := []*warnings{newWarnings(), newWarnings()}
	all := fasttest.Begin(t, 2, func() func(rank int) (*fast.Comm, error) {
		store := fast.NewMemoryStore()
		return func(rank int) (*fast.Comm, error) {
			if rank == 1 {
				logs[0].await(t, "primitive=Init ", "rank=0 ", "waiting=[1]")
			}
			return fast.Init(t.Context(), fast.WithRank(rank, 2), fast.WithStore(store), fast.WithSecret(growSecret),
				fast.WithSlowCall(slowAtOnce),
				fast.WithLogger(slog.New(logs[rank])))
		}
	}())
	defer closeEach(all)
	for name, test := range map[string]struct {
		call func(c *fast.Comm) (*fast.Comm, error)
		what string // in the warning
	}{
		"Group": {func(c *fast.Comm) (*fast.Comm, error) { return c.Group(t.Context(), []int{0, 1}) },
			"making a communicator"},
		"Agree": {func(c *fast.Comm) (*fast.Comm, error) { _, err := c.Agree(t.Context(), 1); return nil, err }, "Agree"},
		"MonitoredBarrier": {func(c *fast.Comm) (*fast.Comm, error) { return nil, fast.MonitoredBarrier(t.Context(), c) },
			"MonitoredBarrier"},
		"Shrink": {func(c *fast.Comm) (*fast.Comm, error) { return c.Shrink(t.Context()) }, "Shrink"},
	} {
		for late := range 2 {
			for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
				if c.Rank() == late {
					logs[1-late].await(t, "primitive="+test.what+" ", fmt.Sprint("waiting=[", late, "]"))
				}
				made, err := test.call(c)
				return errors.Join(err, made.Close())
			}) {
				if err != nil {
					t.Errorf("%s, rank %d: %v", name, rank, err)
				}
			}
		}
	}
	t.Run("Grow and Join", func(t *testing.T) {
		ticket, err := all[0].Invite(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		newcomer := newWarnings()
		grown := fasttest.Begin(t, 3, func(rank int) (*fast.Comm, error) {
			switch rank {
			case 1: // rank 0 waits for the newcomer, and the newcomer for rank 0
				newcomer.await(t, "primitive=Join ", "waiting=[0]")
			case 2:
				logs[0].await(t, "primitive=Grow ", "waiting=[2]")
				return fast.Join(t.Context(), ticket, fast.WithSecret(growSecret), fast.WithSlowCall(slowAtOnce),
					fast.WithLogger(slog.New(newcomer)))
			}
			return all[rank].Grow(t.Context())
		})
		closeEach(grown)
	})
}

// TestGrowBlames: a Grow whose newcomer does not come in time says so on the rank that has invited it, and waits for
// none of the others.
func TestGrowBlames(t *testing.T) {
	all := initComms(t, 2, fast.WithSecret(growSecret))
	defer closeEach(all)
	if _, err := all[0].Invite(t.Context()); err != nil {
		t.Fatal(err)
	}
	errs := fasttest.OnAll(all, func(c *fast.Comm) error {
		ctx := t.Context()
		if c.Rank() == 0 { // its time begins with its call: one whose time is over makes none
			limited, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
			defer cancel()
			ctx = limited
		}
		_, err := c.Grow(ctx)
		return err
	})
	var late *fast.TimeoutError
	if !errors.As(errs[0], &late) || fmt.Sprint(late.Waiting) != "[2]" {
		t.Errorf("rank 0: %v", errs[0])
	}
	if errs[1] == nil || !strings.Contains(errs[1].Error(), "did not come") {
		t.Errorf("rank 1: %v", errs[1])
	}
}
