//go:build linux && cgo && !netgo

package verbs

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/collgen/collgen/fast/internal/verbs/fake"
)

// withLibrary runs the rest of the test, f, in a process with a library of the folder's devices, of which fake0 is the
// first.
func withLibrary(t testing.TB, f func(devices string), args ...string) {
	t.Helper()
	fake.Run(t, func(devices string) {
		Kernel = devices
		fake.Add(t, devices, "fake0")
		f(devices)
	}, args...)
}

// openFake opens a device that is closed at the end of the test.
func openFake(t testing.TB, name string, tell func(Event, error)) *Context {
	t.Helper()
	c, err := Open(name, tell)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// fakePair are objects of the fake library: the queue pair is not connected.
func fakePair(t testing.TB) (*QP, *CQ) {
	t.Helper()
	context := openFake(t, "fake0", nil)
	cq, err := context.CreateCQ(1024, nil)
	if err != nil {
		t.Fatal(err)
	}
	pd, err := context.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	qp, err := pd.CreateQP(cq, cq, Depths{Sends: 1024, Receives: 1024})
	if err != nil {
		t.Fatal(err)
	}
	return qp, cq
}

// TestUnsaid has a library that lists no devices, and gives no reason.
func TestUnsaid(t *testing.T) {
	withLibrary(t, func(string) {
		if _, err := Devices(); !errors.Is(err, errNoReason) {
			t.Errorf("got %v", err)
		}
	}, "-DUNSAID")
}

// TestUnlisted: where the kernel has no device, the library is not asked for one.
func TestUnlisted(t *testing.T) {
	withLibrary(t, func(string) {
		Kernel = t.TempDir()
		if devices, err := Devices(); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(),
			"there is nothing in "+Kernel) {
			t.Errorf("%v, %v", devices, err)
		}
	})
}

// TestBatches posts more than a batch, and more than the queue can hold.
func TestBatches(t *testing.T) {
	withLibrary(t, func(string) {
		qp, cq := fakePair(t)
		sends := make([]Send, 1500)
		for i := range sends {
			sends[i] = Send{ID: uint64(i), Opcode: WriteWithImm, Imm: 0x01020304 + uint32(i)}
		}
		if n, err := qp.Post(sends); n != 1000 || !errors.Is(err, syscall.ENOMEM) {
			t.Errorf("%d are posted: %v", n, err)
		}
		done := make([]Completion, 100)
		for at := 0; at < 1000; {
			n, err := cq.Poll(done)
			if n == 0 || err != nil {
				t.Fatalf("after %d: %d, %v", at, n, err)
			}
			for _, c := range done[:n] {
				if want := (Completion{ID: uint64(at), Kind: ReceivedImm, Imm: 0x01020304 + uint32(at), HasImm: true,
					QP: 17}); c != want {
					t.Errorf("got %+v, want %+v", c, want)
				}
				at++
			}
		}
	})
}

// TestIncomplete has a library that lacks a function.
func TestIncomplete(t *testing.T) {
	withLibrary(t, func(string) {
		if _, err := Devices(); err == nil || !strings.Contains(err.Error(), "libibverbs.so.1 has no ibv_destroy_qp") {
			t.Errorf("got %v", err)
		}
	}, "-DINCOMPLETE")
}

func BenchmarkPost(b *testing.B) {
	withLibrary(b, func(string) {
		qp, cq := fakePair(b)
		sends, done := make([]Send, 32), make([]Completion, 32)
		b.Run("1", func(b *testing.B) { benchmarkPost(b, qp, cq, sends[:1], done) })
		b.Run("32", func(b *testing.B) { benchmarkPost(b, qp, cq, sends, done) })
	})
}

// benchmarkPost posts and polls.
func benchmarkPost(b *testing.B, qp *QP, cq *CQ, sends []Send, done []Completion) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = qp.Post(sends)
		_, _ = cq.Poll(done)
	}
}

// BenchmarkPoll finds nothing.
func BenchmarkPoll(b *testing.B) {
	withLibrary(b, func(string) {
		_, cq := fakePair(b)
		done := make([]Completion, 32)
		b.ReportAllocs()
		for b.Loop() {
			_, _ = cq.Poll(done)
		}
	})
}
