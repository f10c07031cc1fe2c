package limits

import (
	"context"
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNobodyWaitsForEver: when one side of a measurement over TCP fails, or its context ends, the other one fails too.
func TestNobodyWaitsForEver(t *testing.T) {
	wrong := errors.New("wrong")
	waits := map[string]func(fd int) error{
		"message":  receiveFrom,
		"exchange": func(fd int) error { return exchange(fd, make([]byte, 8), make([]byte, 16)) },
	}
	for name, wait := range waits {
		for _, spins := range []bool{true, false} {
			for _, want := range []error{wrong, context.Canceled} {
				ctx, cancel := context.WithCancel(t.Context())
				e, err := newEnds()
				if err != nil {
					t.Fatal(err)
				}
				for _, fd := range e.fds {
					if err := unix.SetNonblock(fd, spins); err != nil {
						t.Fatal(err)
					}
				}
				_, err = inStep(ctx, [2]func(int) error{
					func(int) error { return wait(e.fds[0]) },
					func(int) error {
						if want == wrong {
							return wrong
						}
						cancel()
						return wait(e.fds[1])
					},
				}, func() {}, e.cut)
				if err == nil || want == wrong && err != wrong {
					t.Errorf("%s, spinning %v: %v, want %v", name, spins, err, want)
				}
				cancel()
				e.release()
			}
		}
	}
}
