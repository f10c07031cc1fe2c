package simnet

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

var rough = Weather{Delay: time.Millisecond, Capacity: 10, Pieces: true}

// TestStream writes far more than a link holds: it comes as it was written, not sooner than the delay, and then the
// end.
func TestStream(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			a, b := NewLink(new(Process), new(Process), rough, seed, 0)
			data := bytes.Repeat([]byte("what was written"), 20)
			go func() {
				if n, err := a.Conn().Write(data); n != len(data) || err != nil {
					t.Error(n, err)
				}
				_ = a.Conn().Close()
			}()
			start := time.Now()
			came, err := io.ReadAll(b.Conn())
			if !bytes.Equal(came, data) || err != nil ||
				time.Since(start) < time.Duration(len(data)/rough.Capacity)*rough.Delay {
				t.Errorf("%q, %v, after %v", came, err, time.Since(start))
			}
		})
	}
}

// TestEnds is how a link ends: for both, for one, or for nobody that notices.
func TestEnds(t *testing.T) {
	for name, test := range map[string]struct {
		end   func(a *End)
		comes string
		err   error
		wrote error // of b
	}{
		"closed":  {func(a *End) { a.Socket().Close() }, "last", nil, syscall.ECONNRESET},
		"reset":   {(*End).Reset, "", syscall.ECONNRESET, syscall.ECONNRESET},
		"severed": {func(a *End) { a.Sever(); _, _ = a.Conn().Write([]byte("lost")) }, "last", os.ErrDeadlineExceeded, nil},
		"crashed": {func(a *End) { a.owner.Crash(func() bool { return false }) }, "last", nil, syscall.ECONNRESET},
		"corrupt": {func(a *End) { a.Corrupt(); _, _ = a.Conn().Write([]byte{6}); _ = a.Conn().Close() }, "last\x07", nil,
			syscall.ECONNRESET},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, b := NewLink(new(Process), new(Process), rough, 1, 0)
			_, _ = a.Conn().Write([]byte("last"))
			test.end(a)
			_ = b.Conn().SetDeadline(time.Now().Add(time.Second))
			came, err := io.ReadAll(b.Conn())
			if string(came) != test.comes || !errors.Is(err, test.err) {
				t.Errorf("%s: came %q, %v", name, came, err)
			}
			if _, err := b.Socket().Write([]byte("too late"), nil); test.wrote != nil && err != test.wrote {
				t.Errorf("%s: writing: %v, want %v", name, err, test.wrote)
			}
			time.Sleep(time.Second)
		})
	}
}

// TestStopped: a process that is stopped does nothing, and what is sent to it waits.
func TestStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(Process)
		a, b := NewLink(p, new(Process), rough, 1, 0)
		p.Stop()
		time.AfterFunc(time.Hour, p.Continue)
		if n, err := b.Socket().Write(make([]byte, 20), nil); n < 1 || n > rough.Capacity || err != nil {
			t.Error(n, err)
		}
		start := time.Now()
		if _, err := a.Conn().Read(make([]byte, 1)); err != nil || time.Since(start) != time.Hour {
			t.Error(err, time.Since(start))
		}
		if _, err := b.Socket().Read(make([]byte, 1)); err != syscall.EAGAIN {
			t.Error(err)
		}
	})
}
