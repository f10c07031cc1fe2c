package fast

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast/internal/exec"
)

// TestStagingAgain calls an algorithm that needs distinct buffers in place again and again, with other data and other
// lengths: its input is this call's, all of it.
func TestStagingAgain(t *testing.T) {
	k := &exec.Collective{Name: "Test", Algorithms: []exec.Algorithm{{Name: "pass-on", OutOfPlace: true, Proved: exec.Proved{Every: true}, Run: reverseAndPassOn}}}
	for _, size := range []int{1, 2, 3} {
		if err := errors.Join(onAll(comms(size), func(c *Comm) error {
			for round, count := range []int{4, 4, 1000, 12, 12, 100_004, 4, 0, 1 << 20, 1000} {
				x, want := marked(round, c.Rank(), count), marked(round, (c.Rank()+size-1)%size, count)
				slices.Reverse(want)
				for chunk := range slices.Chunk(want, max(1, count/4)) { // chunks come in reverse, and their elements do not
					slices.Reverse(chunk)
				}
				if err := do(t.Context(), c, k, x, x, &exec.Args{Count: count}, nil); err != nil {
					return err
				}
				if !bytes.Equal(x, want) {
					return fmt.Errorf("rank %d of %d, round %d: %d bytes are not those of the rank before it", c.Rank(), size, round, count)
				}
			}
			return nil
		})...); err != nil {
			t.Error(err)
		}
	}
}

// TestReplaceAgain replaces what it sends by what it receives, again and again, with other data and other lengths,
// short and long.
func TestReplaceAgain(t *testing.T) {
	const size = 3
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			all := w.comms(t, size)
			defer closeAll(t, all)
			if err := errors.Join(onAll(all, func(c *Comm) error {
				for round, count := range []int{1, 63, 1000, 1000, 7, 1 << 20, 1<<20 + 1, 3 << 20, 64} {
					x := marked(round, c.Rank(), count)
					if err := SendRecvReplace(t.Context(), c, x, (c.Rank()+1)%size, (c.Rank()+size-1)%size); err != nil {
						return err
					}
					if !bytes.Equal(x, marked(round, (c.Rank()+size-1)%size, count)) {
						return fmt.Errorf("rank %d, round %d: %d bytes are not those of the rank before it", c.Rank(), round, count)
					}
				}
				return nil
			})...); err != nil {
				t.Error(err)
			}
		})
	}
}

// marked returns n bytes that differ from round to round and from rank to rank.
func marked(round, rank, n int) []byte {
	x := make([]byte, n)
	for i := range x {
		x[i] = byte(round*101 + rank*31 + i*7 + i>>8 + i>>16)
	}
	return x
}

// TestSendRecvToItself copies what a rank sends to itself, also when the call is started.
func TestSendRecvToItself(t *testing.T) {
	for rank, err := range onAll(comms(2), func(c *Comm) error {
		for round, count := range []int{1, 1000, 1 << 20} {
			out, in, later := marked(round, c.Rank(), count), make([]byte, count), make([]byte, count)
			err := SendRecv(t.Context(), c, out, c.Rank(), in, c.Rank())
			err = errors.Join(err, StartSendRecv(t.Context(), c, out, c.Rank(), later, c.Rank()).Wait(t.Context()))
			if err != nil || !bytes.Equal(in, out) || !bytes.Equal(later, out) {
				return fmt.Errorf("%d bytes were not copied (%v)", count, err)
			}
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
