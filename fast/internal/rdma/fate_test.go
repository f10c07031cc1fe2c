package rdma_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma/fabric"
	"github.com/collgen/collgen/fast/internal/wire"
)

// stuck is a long message from registered memory to registered memory that does not go on.
type stuck struct {
	*group
	data, into []byte
	stop       [2]context.CancelFunc // of each rank
	ended      [2]chan error
}

// newStuck has rank 0 send it over so many rails, of which the first ones, as many as are frozen, carry only its
// beginning. If there are several, the second is the main one.
func newStuck(t *testing.T, rails, frozen int, before func(g *group)) *stuck {
	g := world{Options: fabric.Options{MaxMessage: 64 << 10}, rails: []int{rails}}.group(t, 2)
	s := &stuck{group: g, data: pattern(8<<20, 1), into: make([]byte, 8<<20)}
	g.known(s.data, s.into, [2]bool{true, true})
	for _, d := range g.all[0].rails[:frozen] {
		g.Freeze(d, 200<<10)
	}
	before(g)
	for rank := range s.ended {
		ctx, stop := context.WithTimeout(t.Context(), long)
		t.Cleanup(stop)
		s.stop[rank], s.ended[rank] = stop, make(chan error, 1)
		go func() {
			if rank == 0 {
				s.ended[0] <- g.all[0].Exchange(ctx, []wire.Send{{Peer: 1, Data: s.data}}, nil)
			} else {
				s.ended[1] <- g.all[1].Exchange(ctx, nil, []wire.Recv{{Peer: 0, Into: s.into}})
			}
		}()
	}
	return s
}

// await waits until rank 0 waits, or its Exchange has ended.
func (s *stuck) await(t *testing.T) {
	soon(t, "getting stuck", func() {
		for len(s.all[0].Waiting()) == 0 {
			time.Sleep(time.Millisecond)
		}
	})
}

// giveUp has a rank's Exchange end in vain, and its caller use the memory for something else.
func (s *stuck) giveUp(t *testing.T, rank int) {
	s.stop[rank]()
	if err := <-s.ended[rank]; err == nil {
		t.Fatalf("rank %d has all", rank)
	}
	copy([][]byte{s.data, s.into}[rank], bytes.Repeat([]byte{0xee}, len(s.data)))
}

// forget has a rank forget its memory.
func (s *stuck) forget(t *testing.T, rank int) {
	if err := s.all[rank].Forget([][]byte{s.data, s.into}[rank]); err != nil {
		t.Error(err)
	}
}

// want lets go of what is frozen, and wants that nothing of that is in rank 1's memory.
func (s *stuck) want(t *testing.T, spoiled func(b []byte) bool) {
	t.Helper()
	s.Thaw()
	if spoiled(s.into) {
		t.Error("a device uses memory after an Exchange that has failed")
	}
}

// isWritten reports whether memory that was 0xee all over was written.
func isWritten(b []byte) bool { return bytes.Count(b, []byte{0xee}) != len(b) }

// isLeaked reports whether b has a page of what the sender's memory was used for.
func isLeaked(b []byte) bool { return bytes.Contains(b, bytes.Repeat([]byte{0xee}, 1024)) }

// TestGivesUp has both ranks give up a message on its way: their devices use nothing of the memory any more when that
// was told.
func TestGivesUp(t *testing.T) {
	for _, x := range [][2]int{{1, 1}, {2, 2}, {2, 1}, {3, 1}, {3, 3}} { // so many rails, of which so many are frozen
		t.Run(fmt.Sprint(x[1], " frozen of ", x[0]), func(t *testing.T) {
			t.Parallel()
			s := newStuck(t, x[0], x[1], func(*group) {})
			s.await(t)
			for rank := range 2 {
				s.giveUp(t, rank)
				s.forget(t, rank)
			}
			s.want(t, isWritten)
			if n := s.Faults(); n != 0 {
				t.Errorf("%d writes were in flight when their memory was given back", n)
			}
		})
	}
}

// TestGivesUpAlone has one rank give up, whose queue pairs cannot be broken off: what is on its way finds no registered
// memory.
func TestGivesUpAlone(t *testing.T) {
	for rank, spoiled := range []func([]byte) bool{isLeaked, isWritten} {
		t.Run(fmt.Sprint("rank ", rank), func(t *testing.T) {
			t.Parallel()
			s := newStuck(t, 2, 2, func(g *group) {
				for _, d := range g.all[rank].rails {
					d.Unbreakable = true
				}
			})
			s.await(t)
			s.giveUp(t, rank)
			s.want(t, spoiled)
		})
	}
}

// TestRefusedPost has a device take only some of the writes that it is to post, while others are in flight: they are
// over before the caller is told.
func TestRefusedPost(t *testing.T) {
	for _, rails := range []int{1, 2} {
		for takes := 3; takes < 12; takes++ {
			s := newStuck(t, rails, rails, func(g *group) { g.Refuse(g.all[0].device, takes) })
			err := <-s.ended[0]
			wantDied(t, err, 1, "takes no more writes")
			s.forget(t, 0)
			copy(s.data, bytes.Repeat([]byte{0xee}, len(s.data)))
			s.want(t, isLeaked)
			if n := s.Faults(); n != 0 {
				t.Errorf("%d rails, %d writes: %d were in flight when their memory was given back", rails, takes, n)
			}
		}
	}
}
