//go:build linux && cgo && !netgo

package verbs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// withLibrary runs the rest of the test, f, in a process that finds the library of testdata instead of that of the system.
func withLibrary(t testing.TB, f func(), args ...string) {
	t.Helper()
	if os.Getenv("COLLGEN_FAKE_VERBS") != "" {
		listed = "testdata" // whose library has a device that the kernel has not
		f()
		return
	}
	dir := t.TempDir()
	versions := filepath.Join(dir, "versions")
	if err := os.WriteFile(versions, []byte("IBVERBS_1.0 { global: ibv_create_comp_channel; ibv_destroy_comp_channel; };\n"+
		"IBVERBS_1.1 { global: ibv_*; local: *; } IBVERBS_1.0;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	build := append(args, "-shared", "-fPIC", "-O2", "-o", filepath.Join(dir, "libibverbs.so.1"), "-Wl,--version-script="+versions, "testdata/fake.c")
	if out, err := compiler(t, build...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest := exec.Command(os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$", "-test.bench=^"+t.Name()+"$", "-test.benchmem")
	rest.Env = append(os.Environ(), "COLLGEN_FAKE_VERBS=1", "LD_LIBRARY_PATH="+dir)
	out, err := rest.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if _, is := t.(*testing.B); is {
		t.Logf("with a library that does nothing:\n%s", out)
	}
}

// fake are objects of the library that does nothing.
func fake(t testing.TB) (*QP, *CQ) {
	t.Helper()
	context, err := Device{"fake0"}.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := context.Close(); err != nil {
			t.Error(err)
		}
	})
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
	withLibrary(t, func() {
		if _, err := Devices(); !errors.Is(err, errUnsaid) {
			t.Errorf("got %v", err)
		}
	}, "-DUNSAID")
}

// TestUnlisted: where the kernel has no device, the library is not asked for one.
func TestUnlisted(t *testing.T) {
	withLibrary(t, func() {
		listed = t.TempDir()
		if devices, err := Devices(); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "there is nothing in "+listed) {
			t.Errorf("%v, %v", devices, err)
		}
	})
}

// TestBatches posts more than a batch, and more than the queue can hold.
func TestBatches(t *testing.T) {
	withLibrary(t, func() {
		qp, cq := fake(t)
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
				if want := (Completion{ID: uint64(at), Kind: ReceivedImm, Imm: 0x01020304 + uint32(at), HasImm: true, QP: 17}); c != want {
					t.Errorf("got %+v, want %+v", c, want)
				}
				at++
			}
		}
	})
}

// TestIncomplete has a library that lacks a function.
func TestIncomplete(t *testing.T) {
	withLibrary(t, func() {
		if _, err := Devices(); err == nil || !strings.Contains(err.Error(), "libibverbs.so.1 has no ibv_destroy_qp") {
			t.Errorf("got %v", err)
		}
	}, "-DINCOMPLETE")
}

func BenchmarkPost(b *testing.B) {
	withLibrary(b, func() {
		qp, cq := fake(b)
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
	withLibrary(b, func() {
		_, cq := fake(b)
		done := make([]Completion, 32)
		b.ReportAllocs()
		for b.Loop() {
			_, _ = cq.Poll(done)
		}
	})
}
