package store

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

func init() {
	Worlds["tcp"] = func(t testing.TB) (Store, Store) {
		a := address(t)
		return openTCP(t, a, 0), openTCP(t, a, 1)
	}
}

// address returns one that is free, for now.
func address(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

var trainSecret = secure.FromSecret(secure.Secret{1})

func openTCP(t testing.TB, address string, rank int) *Shared {
	t.Helper()
	s, err := NewTCP(t.Context(), address, trainSecret, Job{Name: "train", Epoch: 1, Rank: rank, Size: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestTCPInAnyOrder: ranks that come before rank 0 wait for it.
func TestTCPInAnyOrder(t *testing.T) {
	a := address(t)
	var all sync.WaitGroup
	for _, rank := range []int{2, 1, 0} {
		all.Go(func() {
			s := openTCP(t, a, rank)
			put(t, s, string(rune('0'+rank)), "here")
			for _, key := range []string{"0", "1", "2"} {
				want(t, s, key, "here")
			}
			put(t, s, "done "+string(rune('0'+rank)), "")
			if rank == 0 {
				want(t, s, "done 1", "")
				want(t, s, "done 2", "")
			}
		})
	}
	all.Wait()
}

// TestTCPOnItsOwn: rank 0 uses a store that is there already, of whatever size.
func TestTCPOnItsOwn(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- ServeTCP(ctx, l, trainSecret, Job{Name: "train", Epoch: 1}) }()
	put(t, openTCP(t, l.Addr().String(), 0), "a", "1")
	other := openTCP(t, l.Addr().String(), 1)
	want(t, other, "a", "1")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := other.Get(t.Context(), "b"); !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(),
		l.Addr().String()) {
		t.Error(err)
	}
}

// TestTCPRefuses processes that do not belong to the job, and rank 0 if its address is taken.
func TestTCPRefuses(t *testing.T) {
	t.Parallel()
	a := address(t)
	lead := openTCP(t, a, 0)
	var all sync.WaitGroup
	for _, c := range []struct {
		secret secure.Secret
		job    Job
		want   error
	}{
		{secure.Secret{2}, Job{Name: "train", Epoch: 1, Rank: 1, Size: 3}, secure.ErrWrongSecret},
		{secure.Secret{1}, Job{Name: "other", Epoch: 1, Rank: 1, Size: 3}, secure.ErrWrongJob},
		{secure.Secret{1}, Job{Name: "train", Epoch: 2, Rank: 1, Size: 3}, secure.ErrStaleEpoch},
		{secure.Secret{1}, Job{Name: "train", Epoch: 1, Rank: 1, Size: 4}, secure.ErrWrongSize},
		{secure.Secret{1}, Job{Name: "other", Epoch: 1, Rank: 0, Size: 3}, secure.ErrWrongJob},
	} {
		all.Go(func() {
			if _, err := NewTCP(t.Context(), a, secure.FromSecret(c.secret), c.job); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
	all.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := lead.Get(ctx, "never"); err == nil || !strings.Contains(err.Error(), "refused meanwhile: 127.0.0.1:") {
		t.Error(err)
	}
	c, err := net.Dial("tcp", a)
	if err != nil {
		t.Fatal(err)
	}
	me := secure.Identity{Job: "train", Epoch: 1, Process: 1, Size: 3}
	_, err = secure.Client(t.Context(), c, trainSecret, me, secure.Hello{To: secure.StoreProcess, Purpose: secure.Data})
	if !errors.Is(err, secure.ErrRefused) {
		t.Error(err)
	}
}

// TestTCPNobody: without rank 0 the others wait as long as they may.
func TestTCPNobody(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, a := range []string{address(t), "no.such.host.invalid:1"} {
		_, err := NewTCP(ctx, a, trainSecret, Job{Name: "train", Epoch: 1, Rank: 1, Size: 3})
		var timeout *wire.TimeoutError
		if !errors.As(err, &timeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", a, err)
		}
	}
}

// TestTCPFollowsAnother: who comes while an earlier job has the address finds its own after that.
func TestTCPFollowsAnother(t *testing.T) {
	a := address(t)
	old, err := NewTCP(t.Context(), a, secure.FromSecret(secure.Secret{9}), Job{Name: "old", Epoch: 1, Rank: 0, Size: 3})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for rank := range 3 {
		all.Go(func() { openTCP(t, a, rank) })
	}
	time.Sleep(conflictTime / 10)
	_ = old.Close()
	all.Wait()
}

// TestListenHere: which addresses are this host's.
func TestListenHere(t *testing.T) {
	for host, here := range map[string]bool{"127.0.0.1": true, "localhost": true, "192.0.2.1": false,
		"2001:db8::1": false} {
		l, err := listenHere(t.Context(), net.JoinHostPort(host, "0"))
		if err != nil || (l != nil) != here {
			t.Errorf("%s: %v, %v", host, l, err)
		}
		if l != nil {
			_ = l.Close()
		}
	}
	for _, bad := range []string{"", "host", ":1", "127.0.0.1:port", "127.0.0.1:99999"} {
		if l, err := listenHere(t.Context(), bad); err == nil {
			t.Errorf("%q: %v", bad, l.Addr())
		}
	}
}
