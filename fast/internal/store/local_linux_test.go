package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

func init() {
	Worlds["local"] = func(t testing.TB) (Store, Store) {
		job := jobOf(t, 2)
		return openLocal(t, job, 0), openLocal(t, job, 1)
	}
}

// jobOf returns a job that no other test has.
func jobOf(t testing.TB, size int) Job {
	return Job{Name: fmt.Sprint(t.Name(), time.Now()), Epoch: 7, Size: size}
}

func openLocal(t testing.TB, job Job, rank int) *Local {
	t.Helper()
	job.Rank = rank
	l, err := NewLocal(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// TestLocalSecret: all ranks get the same secret, those that come first too, and another one the next time.
func TestLocalSecret(t *testing.T) {
	job := jobOf(t, 3)
	var secrets [3][]byte
	var all sync.WaitGroup
	for rank := range 3 {
		all.Go(func() {
			time.Sleep(time.Duration(2-rank) * 10 * time.Millisecond)
			secrets[rank], _ = openLocal(t, job, rank).Secret(t.Context())
		})
	}
	all.Wait()
	again, _ := openLocal(t, jobOf(t, 3), 0).Secret(t.Context())
	if len(again) != SecretBytes || bytes.Equal(again, secrets[0]) {
		t.Error("the next job's secret is the same, or none")
	}
	if !bytes.Equal(secrets[0], secrets[1]) || !bytes.Equal(secrets[0], secrets[2]) || len(secrets[0]) != SecretBytes {
		t.Error("the ranks have different secrets")
	}
}

func TestLocalRefuses(t *testing.T) {
	t.Parallel()
	job := jobOf(t, 2)
	lead := openLocal(t, job, 0)
	stale := job
	stale.Rank, stale.Epoch = 1, 8
	_, err := NewLocal(t.Context(), stale)
	wantError(t, err, "rank 0 refuses rank 1: this is epoch 7 of the job, not 8")
	_, err = NewLocal(t.Context(), job)
	wantError(t, err, "is rank 0 of a job of the same name")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = lead.Get(ctx, "never")
	wantError(t, err, "refused meanwhile: this is epoch 7 of the job, not 8")
	wantError(t, peer{pid: 1, uid: -1}.check(), "belongs to user -1, want this user")
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want %s", err, text)
	}
}

// TestLocalNobody: without rank 0 the others wait as long as they may, and name it.
func TestLocalNobody(t *testing.T) {
	job := jobOf(t, 2)
	job.Rank = 1
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := NewLocal(ctx, job)
	var timeout *wire.TimeoutError
	if !errors.As(err, &timeout) || len(timeout.Waiting) != 1 || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestLocalRankZeroGoes: those who wait are told, as of a rank that gave up.
func TestLocalRankZeroGoes(t *testing.T) {
	job := jobOf(t, 2)
	lead := openLocal(t, job, 0)
	other := openLocal(t, job, 1)
	got := make(chan error)
	go func() {
		_, err := other.Get(t.Context(), "never")
		got <- err
	}()
	_ = lead.Close()
	var gone *wire.PeerError
	if err := <-got; !errors.As(err, &gone) || gone.Rank != 0 || !errors.Is(err, wire.ErrAborted) {
		t.Error(err)
	}
	if err := rankZeroError(io.EOF); !errors.Is(err, wire.ErrDied) {
		t.Error(err)
	}
	openLocal(t, job, 0) // the address is free at once
}

// TestLocalStrangers: what comes and says nothing, or nonsense, is in nobody's way.
func TestLocalStrangers(t *testing.T) {
	job := jobOf(t, 2)
	lead := openLocal(t, job, 0)
	for i := range 3 * extraClients {
		c, err := net.DialUnix("unix", nil, job.address())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			_, _ = c.Write(frame{kind: set, key: "a", value: []byte("no rank's")}.encode())
		}
	}
	put(t, openLocal(t, job, 1), "b", "1")
	want(t, lead, "b", "1")
	if !absent(lead, "a") {
		t.Error("a stranger has set a value")
	}
}

// TestNoRoom: where rank 0 has no descriptor left for a client, not even to tell it so, its own wait fails. When there
// is room again, clients connect.
func TestNoRoom(t *testing.T) {
	job := jobOf(t, 2)
	l := openLocal(t, job, 0)
	client, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	none := before
	none.Cur = 3 // those are open
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := l.Get(t.Context(), "card")
		failed <- err
	}()
	err = unix.Connect(client, &unix.SockaddrUnix{Name: job.address().Name})
	got := <-failed
	if err := errors.Join(err, unix.Setrlimit(unix.RLIMIT_NOFILE, &before), unix.Close(client)); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(got, wire.ErrExhausted) || !strings.Contains(got.Error(), "has no room for a connection") {
		t.Errorf("rank 0 has waited, and got %v", got)
	}
	if _, err := openLocal(t, job, 1).Secret(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestIsAwaited: a listener is awaited from when a client has connected.
func TestIsAwaited(t *testing.T) {
	job := jobOf(t, 1)
	l, err := net.ListenUnix("unix", job.address())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	before := isAwaited(l)
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if before || !isAwaited(l) {
		t.Errorf("awaited before a client has connected: %v, and afterwards: %v", before, isAwaited(l))
	}
}

// TestLongWait: a rank may wait at the local store for longer than its hello may take.
func TestLongWait(t *testing.T) {
	defer func(d time.Duration) { helloTimeout = d }(helloTimeout)
	helloTimeout = 4 * time.Second
	job := Job{Name: "long wait", Size: 2}
	s, err := NewLocal(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	job.Rank = 1
	other, err := NewLocal(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	time.AfterFunc(helloTimeout+time.Second/2, func() { _ = s.Set(context.Background(), "key", []byte{1}) })
	if _, err := other.Get(t.Context(), "key"); err != nil {
		t.Error(err)
	}
}
