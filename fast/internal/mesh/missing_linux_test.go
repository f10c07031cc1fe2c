package mesh

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestHungFetches: fetches that hang do not keep a process from asking for the other cards once none has come for a
// time, and it begins to ask by itself.
func TestHungFetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, _ := next(t)
		j.me.Size = 3 * maxFetches
		asked := make(map[int]bool)
		var mu sync.Mutex
		j.cfg.Fetch = func(ctx context.Context, _ string, process int) ([]byte, error) {
			mu.Lock()
			asked[process] = true
			mu.Unlock()
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		j.meeting.Go(j.fetchLate)
		time.Sleep(fetchPause / 2)
		j.fetched.Store(j.now()) // a card has come
		for i, want := range []int{0, maxFetches, j.me.Size} {
			time.Sleep(fetchPause)
			synctest.Wait()
			mu.Lock()
			n := len(asked)
			mu.Unlock()
			if n != want {
				t.Errorf("after %d pauses it has asked for %d cards, want %d", i+1, n, want)
			}
		}
	})
}

// TestSilentIntroducer: who waits for others that the first process of the host introduces to it names that one alone
// while it is silent.
func TestSilentIntroducer(t *testing.T) {
	j, _ := next(t)
	all := []int{0, 1, 2, 3, 4} // it knows no card
	first := new(peer)
	silent := j.now() - int64(j.cfg.HeartbeatTimeout)*3/4
	for _, x := range []struct {
		name  string
		after func()
		want  []int
	}{
		{"not known", func() {}, all},
		{"not connected", func() { close(j.arranged) }, all},
		{"silent", func() { j.members[0].peer = first; first.heard.Store(silent) }, []int{0}},
		{"heard", func() { first.heard.Store(j.now()) }, all},
		{"down", func() { first.heard.Store(silent); j.members[0].err = wire.ErrDied }, all},
	} {
		x.after()
		if got := j.missing(); !slices.Equal(got, x.want) {
			t.Errorf("%s: it waits for %v, want %v", x.name, got, x.want)
		}
	}
}

// TestUnready: of those that are not ready, the ones of this host that have acknowledged their introductions are not to
// blame, if there is one that has not.
func TestUnready(t *testing.T) {
	j, _ := next(t)
	done, busy := &hostPeer{}, &hostPeer{busy: true}
	for name, x := range map[string]struct {
		introducer *introducer
		want       []int
	}{
		"another introduces": {nil, []int{1, 3, 4}},
		"nobody is busy":     {&introducer{locals: []*hostPeer{nil, done, nil, done, nil}}, []int{1, 3, 4}},
		"one is busy":        {&introducer{locals: []*hostPeer{nil, done, nil, busy, nil}}, []int{3, 4}},
		"all have left":      {&introducer{}, []int{1, 3, 4}},
	} {
		j.introducer = x.introducer
		if got := j.unready([]int{1, 3, 4}); !slices.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v", name, got, x.want)
		}
	}
}
