package rdma_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/rdma/fabric"
	"github.com/collgen/collgen/fast/internal/wire"
)

// stranger is a peer of rank 0 that a test is: queue pairs without an endpoint.
type stranger struct {
	t      testing.TB
	pairs  []strange
	memory []byte
	to     rdma.Peer // rank 0
	rank0  *rdma.Endpoint
	heard  chan struct{} // closed when rank 0 has said so
}

// strange is one rail of a stranger.
type strange struct {
	device *fabric.Domain
	pair   rdma.Pair
	region rdma.Region
	posted uint64
}

// newStranger returns one of so many rails. The main one is the second, if there is one, because the ranks are 0 and 1.
func newStranger(t testing.TB, rails int) *stranger {
	f := fabric.New(fabric.Options{Seed: seed.Add(1)})
	s := &stranger{t: t, memory: make([]byte, 1<<20), heard: make(chan struct{})}
	own := rdma.Peer{Slots: rdma.DefaultSlots, Bytes: rdma.DefaultBytes}
	var domains []rdma.Domain
	for range rails {
		one := newStrange(t, f.Domain("stranger"), s.memory)
		at, key := one.region.Remote()
		own.At, own.Ends = at, append(own.Ends, rdma.End{Address: one.pair.Address(), Key: key})
		s.pairs, domains = append(s.pairs, one), append(domains, f.Domain("sim0"))
	}
	s.rank0 = rdma.NewEndpoint(0, 2, domains, s.told, rdma.DefaultSlots, rdma.DefaultBytes)
	t.Cleanup(func() { _ = s.rank0.Close() })
	s.rank0.ReceiveCard(1, own.Card())
	<-s.heard
	s.rank0.Begin(wire.NewMark(rdma.OrdinaryCall()))
	return s
}

func newStrange(t testing.TB, d *fabric.Domain, memory []byte) strange {
	var err error
	one := strange{device: d}
	if one.region, err = d.Register(memory); err != nil {
		t.Fatal(err)
	}
	if one.pair, err = d.Pair(1000, 1000); err != nil {
		t.Fatal(err)
	}
	if err := one.pair.Receive(1000); err != nil {
		t.Fatal(err)
	}
	return one
}

// told is what rank 0 says of itself.
func (s *stranger) told(_ int, card []byte) {
	var err error
	if s.to, err = rdma.ReadCard(card); err == nil {
		for i, end := range s.to.Ends {
			err = errors.Join(err, s.pairs[i].pair.Connect(end.Address))
		}
	}
	if err != nil {
		s.t.Error(err)
	}
	close(s.heard)
}

// write writes data to rank 0's memory over the main queue pair, at an offset of its slots, with an immediate.
func (s *stranger) write(offset uint64, data []byte, imm uint32) {
	s.writeOver(1%len(s.pairs), offset, data, imm)
}

// writeOver is write over the queue pair of that number.
func (s *stranger) writeOver(pair int, offset uint64, data []byte, imm uint32) {
	one := &s.pairs[pair]
	copy(s.memory, data)
	w := rdma.Write{ID: one.posted, From: one.region, Memory: s.memory, Length: len(data), To: s.to.At + offset,
		Key:       s.to.Ends[pair].Key,
		Immediate: imm, Tell: true, Signal: true, Inline: true}
	one.posted++
	if _, err := one.pair.Write([]rdma.Write{w}); err != nil {
		s.t.Fatal(err)
	}
}

// awaitPlace waits until rank 0 has said where a message is to go.
func (s *stranger) awaitPlace() {
	for start, done := time.Now(), make([]rdma.Completion, 1); time.Since(start) < long; {
		n, err := s.pairs[1%len(s.pairs)].device.Poll(done, false)
		if err != nil {
			s.t.Fatal(err)
		}
		if n == 1 && done[0].Received && done[0].Immediate == rdma.Control {
			return
		}
	}
	s.t.Fatal("rank 0 does not say where a message is to go")
}

// leaveEarly sends the beginning and the end of a message, and leaves, though nothing has come over the other queue
// pair.
func (s *stranger) leaveEarly(at uint64, first []byte) {
	s.write(at, first, rdma.Segment)
	s.awaitPlace()
	last, _ := rdma.SegmentOf(0)
	s.write(rdma.DefaultBytes+at, last, rdma.Segment|1)
	s.write(s.to.ControlOffset(), linkproto.Header{Kind: linkproto.Bye}.Append(nil), rdma.Control)
}

// receives returns what rank 0 makes of a receive of so many bytes.
func (s *stranger) receives(n int) error {
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	return s.rank0.Exchange(ctx, nil, []wire.Recv{{Peer: 1, Into: make([]byte, n)}})
}

// TestHostile has a peer write what it should not: the receiver fails with its death, and nothing else.
func TestHostile(t *testing.T) {
	empty, at := rdma.SegmentOf(0)
	long, _ := rdma.SegmentOf(rdma.LongBytes)
	some, _ := rdma.SegmentOf(100)
	slot := uint64(at)
	for name, test := range map[string]struct {
		bytes int
		write func(s *stranger)
	}{
		"a number too high": {0, func(s *stranger) { s.write(slot, empty, rdma.Segment|1) }},
		"a number too low":  {0, func(s *stranger) { s.write(slot, empty, rdma.Segment|1<<30-1) }},
		"the same number twice": {0, func(s *stranger) {
			s.write(slot, empty, rdma.Segment)
			s.write(slot, empty,
				rdma.Segment)
		}},
		"no header":                {0, func(s *stranger) { s.write(slot, nil, rdma.Segment) }},
		"half a header":            {0, func(s *stranger) { s.write(rdma.HeaderAt, empty[:8], rdma.Segment) }},
		"more than a slot":         {0, func(s *stranger) { s.write(0, make([]byte, rdma.DefaultBytes), rdma.Segment) }},
		"zeros":                    {0, func(s *stranger) { s.write(slot, make([]byte, len(empty)), rdma.Segment) }},
		"a length beyond the slot": {100, func(s *stranger) { s.write(slot, some, rdma.Segment) }},
		"a call that is not told":  {0, func(s *stranger) { s.write(rdma.HeaderAt, empty[len(empty)-16:], rdma.Segment) }},
		"asks twice": {rdma.LongBytes, func(s *stranger) {
			s.write(slot, long, rdma.Segment)
			s.write(rdma.DefaultBytes+slot, long, rdma.Segment|1)
		}},
		"frees what is not sent": {0, func(s *stranger) { s.write(0, nil, rdma.Freed|1) }},
		"frees backwards":        {0, func(s *stranger) { s.write(0, nil, rdma.Freed|(1<<30-1)) }},
		"frees with bytes":       {0, func(s *stranger) { s.write(0, empty, rdma.Freed) }},
		"frees words not said":   {0, func(s *stranger) { s.write(0, nil, rdma.ControlFreed|1) }},
		"says nonsense": {0, func(s *stranger) {
			s.write(s.to.ControlOffset(), []byte("nonsense, and more of it"),
				rdma.Control)
		}},
		"says half a word": {0, func(s *stranger) { s.write(s.to.ControlOffset(), []byte{6}, rdma.Control) }},
		"says a message": {0, func(s *stranger) {
			s.write(s.to.ControlOffset(), empty[len(empty)-16:],
				rdma.Control)
		}},
		"says too much": {0, func(s *stranger) {
			s.write(s.to.ControlOffset(), make([]byte, 5000),
				rdma.Control)
		}},
		"says the second word":      {0, func(s *stranger) { s.write(s.to.ControlOffset(), nil, rdma.Control|1) }},
		"writes beyond the memory":  {0, func(s *stranger) { s.write(1<<40, empty, rdma.Segment) }},
		"writes before the memory":  {0, func(s *stranger) { s.to.At -= 64; s.write(0, empty, rdma.Segment) }},
		"writes with another key":   {0, func(s *stranger) { s.to.Ends[0].Key++; s.write(slot, empty, rdma.Segment) }},
		"breaks the queue pair off": {0, func(s *stranger) { _ = s.pairs[0].pair.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStranger(t, 1)
			test.write(s)
			err := s.receives(test.bytes)
			if name == "the same number twice" && err == nil {
				err = s.receives(0)
			}
			var peer *wire.PeerError
			if !errors.As(err, &peer) || peer.Rank != 1 || !errors.Is(err, wire.ErrDied) {
				t.Error(err)
			}
		})
	}
}

// TestOverbooked has a peer write into one slot more than there are, all before anything is taken: what came before is
// received, and then its death.
func TestOverbooked(t *testing.T) {
	s := newStranger(t, 1)
	empty, at := rdma.SegmentOf(0)
	for i := range uint32(rdma.DefaultSlots + 1) {
		s.write(uint64(i%rdma.DefaultSlots)*rdma.DefaultBytes+uint64(at), empty, rdma.Segment|i)
	}
	soon(t, "writing", func() {
		done := make([]rdma.Completion, 1)
		for arrived := 0; arrived <= rdma.DefaultSlots; {
			n, _ := s.pairs[0].device.Poll(done, false)
			arrived += n
		}
	})
	for range rdma.DefaultSlots {
		if err := s.receives(0); err != nil {
			t.Fatal(err)
		}
	}
	wantDied(t, s.receives(0), 1, "cannot be")
}

// TestHostileStripes has a peer of several rails write on one beside the main one what it should not.
func TestHostileStripes(t *testing.T) {
	empty, at := rdma.SegmentOf(0)
	long, _ := rdma.SegmentOf(rdma.LongBytes)
	for name, write := range map[string]func(s *stranger){
		"says that all has come of nothing": func(s *stranger) { s.writeOver(0, 0, nil, rdma.Part) },
		"says it with another number": func(s *stranger) {
			s.write(uint64(at), long, rdma.Segment)
			s.awaitPlace()
			s.writeOver(0, 0, nil, rdma.Part|1)
		},
		"says it twice": func(s *stranger) {
			s.write(uint64(at), long, rdma.Segment)
			s.awaitPlace()
			s.writeOver(0, 0, nil, rdma.Part)
			s.writeOver(0, 0, nil, rdma.Part|1)
		},
		"says it with bytes":        func(s *stranger) { s.writeOver(0, uint64(at), empty, rdma.Part) },
		"a segment":                 func(s *stranger) { s.writeOver(0, uint64(at), empty, rdma.Segment) },
		"words":                     func(s *stranger) { s.writeOver(0, s.to.ControlOffset(), nil, rdma.Control) },
		"frees nothing":             func(s *stranger) { s.writeOver(0, 0, nil, rdma.Freed) },
		"frees no words":            func(s *stranger) { s.writeOver(0, 0, nil, rdma.ControlFreed) },
		"breaks the queue pair off": func(s *stranger) { _ = s.pairs[0].pair.Close() },
		"breaks the main one off":   func(s *stranger) { _ = s.pairs[1].pair.Close() },
		"leaves before it has all":  func(s *stranger) { s.leaveEarly(uint64(at), long); _ = s.pairs[0].pair.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStranger(t, 2)
			into := make([]byte, rdma.LongBytes)
			s.rank0.Know(into)
			ended := make(chan error)
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				ended <- s.rank0.Exchange(ctx, nil, []wire.Recv{{Peer: 1, Into: into}})
			}()
			write(s)
			err := <-ended
			var peer *wire.PeerError
			if !errors.As(err, &peer) || peer.Rank != 1 {
				t.Error(err)
			}
			t.Log(err)
		})
	}
}

// TestHonestStranger: what TestHostile changes is accepted unchanged.
func TestHonestStranger(t *testing.T) {
	s := newStranger(t, 1)
	for i := range uint32(40) {
		b, at := rdma.SegmentOf(0)
		s.write(uint64(i%rdma.DefaultSlots)*rdma.DefaultBytes+uint64(at), b, rdma.Segment|i)
		if err := s.receives(0); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoise writes anything anywhere, with any immediate: the receiver fails or does not.
func TestNoise(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		s := newStranger(t, 1)
		b, at := rdma.SegmentOf(rnd.Uint64N(3))
		for range rnd.IntN(4) {
			b[rnd.IntN(len(b))] = byte(rnd.Uint32())
		}
		s.write(uint64(at), b, rdma.Segment)
		s.write(s.to.ControlOffset(), b[:rnd.IntN(len(b))], rdma.Control)
		s.write(0, nil, rnd.Uint32())
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		_ = s.rank0.Exchange(ctx, []wire.Send{{Peer: 1, Data: make([]byte, 10)}},
			[]wire.Recv{{Peer: 1, Into: make([]byte, 2)}})
		cancel()
		_ = s.rank0.Close()
	}
}
