package mesh

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"
)

// startup is how a job is started in which processes connect to each other by one kind of listener.
type startup struct {
	name   string
	round  string // the cards that say where they listen
	change func(*Config)
}

func startups(t *testing.T) []startup {
	all := []startup{{"local", roundHost, func(*Config) {}}}
	if hasOutside() {
		all = append(all, startup{"hosts", roundAddress, hosts(t)})
	}
	return all
}

// form has a job of some processes form, which have left when it returns them, and says how long that took, from when
// all of them listen. Before that, listening is called with the ways to them, and formed before they end.
func (s startup) form(t *testing.T, listening func([]route), formed func()) ([]*Mesh, time.Duration) {
	t.Helper()
	const size = 4
	b, ctx, found := newBoard(), soon(t), make(chan struct{})
	var configs []Config
	for p := range size {
		c := b.config(p, size)
		s.change(&c)
		c.Fetch = func(ctx context.Context, round string, process int) ([]byte, error) {
			if round == s.round {
				<-found
			}
			return b.fetch(ctx, round, process)
		}
		configs = append(configs, c)
	}
	var begun time.Time
	go func() {
		defer close(found)
		listening(s.routes(t, b, configs))
		begun = time.Now()
	}()
	meshes, errs := joinAll(ctx, configs...)
	took := time.Since(begun)
	formed()
	closeAll(meshes)
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	return meshes, took
}

// routes returns the ways to all processes that their cards give.
func (s startup) routes(t *testing.T, b *board, configs []Config) (routes []route) {
	for p, c := range configs {
		raw, err := b.fetch(t.Context(), s.round, p)
		var card Card
		if err == nil {
			card, err = decodeCard(raw, c.Credentials, c.Identity, p)
		}
		if err != nil {
			t.Error(err)
			return nil
		}
		r := route{socket: card.Socket}
		if s.round == roundAddress {
			r = route{address: card.Addresses[0]}
		}
		routes = append(routes, r)
	}
	return routes
}

// clean is form without strays.
func (s startup) clean(t *testing.T) time.Duration {
	_, took := s.form(t, func([]route) {}, func() {})
	return took
}

// pestered is form while strays come: the job forms when half of them have come, and lasts until all have.
func (s startup) pestered(t *testing.T, p pest) time.Duration {
	var strays *pack
	_, took := s.form(t, func(routes []route) {
		strays = p.bring(t, routes)
		strays.line(t)
	}, func() {
		if got, want := strays.line(t), fmt.Sprint("all ", p.count); got != want {
			t.Errorf("the strays say %q, want %q", got, want)
		}
		strays.leave(t)
	})
	return took
}

// memory returns what this program has from the system, which is never less than before.
func memory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}

// TestStrays is bar 6 but for the time: thousands of strangers connect to all listeners of a job. It forms all the
// same, and they cost little memory.
func TestStrays(t *testing.T) {
	leavesNothing(t)
	count := 10_000
	if testing.Short() {
		count = 1000
	}
	for _, s := range startups(t) {
		clean := s.clean(t)
		least := int64(math.MaxInt64)
		for range 3 { // on a busy machine the heap grows once, and stays so
			if least <= 16<<20 {
				break
			}
			before := memory()
			took := s.pestered(t, pest{count: count})
			least = min(least, memory()-before)
			t.Logf("%s: %d strays: formed after %v, and %v without them; %d KiB more memory", s.name, count, took, clean,
				least>>10)
		}
		if least > 16<<20 {
			t.Errorf("%s: each time at least %d bytes more memory, want at most 16 MiB", s.name, least)
		}
	}
}

// TestStraysTakeNoTime is bar 6: with 10,000 strays, at once or over a second, a job forms in at most twice the time.
func TestStraysTakeNoTime(t *testing.T) {
	const rounds = 15
	if !soaking() {
		t.Skip("times count only under make soak, on a machine that does nothing else")
	}
	for _, s := range startups(t) {
		for _, over := range []time.Duration{0, time.Second} {
			var clean, pestered []time.Duration
			for range rounds {
				clean = append(clean, s.clean(t))
				pestered = append(pestered, s.pestered(t, pest{10_000, over}))
			}
			ratio := float64(median(pestered)) / float64(median(clean))
			t.Logf("%s: 10,000 strays over %v: formed after %v, and %v without them, %.2f times: medians of %d rounds",
				s.name, over, median(pestered), median(clean), ratio, rounds)
			if ratio > 2 {
				t.Errorf("%s: over %v, it takes %.2f times as long with strays, want at most 2", s.name, over, ratio)
			}
		}
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
