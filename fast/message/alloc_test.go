package message

import (
	"errors"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// alloc returns memory of Alloc of rank 0; all ranks take part.
func alloc[T fast.Elem](t *testing.T, all []*fast.Comm, n int) (mine []T) {
	t.Helper()
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
		b, err := fast.Alloc[T](t.Context(), c, n)
		if c.Rank() == 0 {
			mine = b
		}
		return err
	}))
	return mine
}

// TestFreeInUse: memory of Alloc is not freed while a message is to be received into it or sent from it.
func TestFreeInUse(t *testing.T) {
	each(t, 2, func(t *testing.T, all []*fast.Comm) {
		const n = 1 << 20
		into, from := alloc[byte](t, all, n), alloc[byte](t, all, n)
		r := StartRecv(t.Context(), all[0], into[5:n-1], 1, 0)
		s := StartSend(t.Context(), all[0], from[:n/2], 1, 1)
		for what, b := range map[string][]byte{"received into": into, "sent from": from} {
			if err := fast.Free(all[0], b); !errors.Is(err, fast.ErrConcurrentUse) {
				t.Fatalf("memory that is %s is freed: %v", what, err)
			}
		}
		if err := Send(t.Context(), all[1], make([]byte, n/2), 0, 0); err != nil {
			t.Error(err)
		}
		if _, err := Recv(t.Context(), all[1], make([]byte, n/2), 0, 1); err != nil {
			t.Error(err)
		}
		if err := errors.Join(r.Wait(t.Context()), s.Wait(t.Context())); err != nil {
			t.Error(err)
		}
		if err := errors.Join(fast.Free(all[0], into), fast.Free(all[0], from)); err != nil {
			t.Error(err)
		}
	})
}

// TestCloseInUse: Close frees memory of Alloc when no receive writes to it any more.
func TestCloseInUse(t *testing.T) {
	each(t, 2, func(t *testing.T, all []*fast.Comm) {
		const calls, n = 200, 10_000
		b := alloc[bool](t, all, calls*n)
		wait := make([]*Handle, calls)
		for i := range wait {
			wait[i] = StartRecv(t.Context(), all[0], b[i*n:(i+1)*n], 1, i)
		}
		time.Sleep(10 * time.Millisecond) // until they wait
		if err := all[0].Close(); err != nil {
			t.Error(err)
		}
		for _, h := range wait {
			if err := h.Wait(t.Context()); !errors.Is(err, fast.ErrClosed) {
				t.Error(err)
			}
		}
	})
}
