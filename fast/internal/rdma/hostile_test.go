package rdma_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/rdma/fabric"
	"github.com/collgen/collgen/fast/internal/wire"
)

// stranger is a peer of rank 0 that a test is: a queue pair without an endpoint.
type stranger struct {
	t      testing.TB
	pair   rdma.Pair
	region rdma.Region
	memory []byte
	posted uint64
	to     rdma.Peer // rank 0
	rank0  *rdma.Endpoint
	heard  chan struct{} // closed when rank 0 has said so
}

func newStranger(t testing.TB) *stranger {
	f := fabric.New(fabric.Options{Seed: seed.Add(1)})
	d := f.Domain("stranger")
	s := &stranger{t: t, memory: make([]byte, 1<<20), heard: make(chan struct{})}
	var err error
	if s.region, err = d.Register(s.memory); err != nil {
		t.Fatal(err)
	}
	if s.pair, err = d.Pair(1000, 1000); err != nil {
		t.Fatal(err)
	}
	if err := s.pair.Receive(1000); err != nil {
		t.Fatal(err)
	}
	s.rank0 = rdma.NewEndpoint(0, 2, f.Domain("sim0"), s.told, rdma.DefaultSlots, rdma.DefaultBytes)
	t.Cleanup(func() { _ = s.rank0.Close() })
	at, key := s.region.Place()
	s.rank0.Told(1, rdma.Peer{Address: s.pair.Address(), At: at, Key: key, Slots: rdma.DefaultSlots, Bytes: rdma.DefaultBytes}.Card())
	<-s.heard
	s.rank0.Begin(wire.NewMark(rdma.OrdinaryCall()))
	return s
}

// told is what rank 0 says of itself.
func (s *stranger) told(_ int, card []byte) {
	var err error
	if s.to, err = rdma.ReadCard(card); err == nil {
		err = s.pair.Connect(s.to.Address)
	}
	if err != nil {
		s.t.Error(err)
	}
	close(s.heard)
}

// write writes data to rank 0's memory, at an offset of its slots, with an immediate.
func (s *stranger) write(offset uint64, data []byte, imm uint32) {
	copy(s.memory, data)
	w := rdma.Write{ID: s.posted, From: s.region, Memory: s.memory, Length: len(data), To: s.to.At + offset, Key: s.to.Key,
		Immediate: imm, Tell: true, Signal: true, Inline: true}
	s.posted++
	if err := s.pair.Write([]rdma.Write{w}); err != nil {
		s.t.Fatal(err)
	}
}

// receives is what rank 0 makes of a receive of so many bytes.
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
		"a number too high":        {0, func(s *stranger) { s.write(slot, empty, rdma.Segment|1) }},
		"a number too low":         {0, func(s *stranger) { s.write(slot, empty, rdma.Segment|1<<30-1) }},
		"the same number twice":    {0, func(s *stranger) { s.write(slot, empty, rdma.Segment); s.write(slot, empty, rdma.Segment) }},
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
		"frees what is not sent":    {0, func(s *stranger) { s.write(0, nil, rdma.Freed|1) }},
		"frees backwards":           {0, func(s *stranger) { s.write(0, nil, rdma.Freed|(1<<30-1)) }},
		"frees with bytes":          {0, func(s *stranger) { s.write(0, empty, rdma.Freed) }},
		"frees words not said":      {0, func(s *stranger) { s.write(0, nil, rdma.AsideFreed|1) }},
		"says nonsense":             {0, func(s *stranger) { s.write(s.to.AsideAt(), []byte("nonsense, and more of it"), rdma.Aside) }},
		"says half a word":          {0, func(s *stranger) { s.write(s.to.AsideAt(), []byte{6}, rdma.Aside) }},
		"says a message":            {0, func(s *stranger) { s.write(s.to.AsideAt(), empty[len(empty)-16:], rdma.Aside) }},
		"says too much":             {0, func(s *stranger) { s.write(s.to.AsideAt(), make([]byte, 5000), rdma.Aside) }},
		"says the second word":      {0, func(s *stranger) { s.write(s.to.AsideAt(), nil, rdma.Aside|1) }},
		"writes beyond the memory":  {0, func(s *stranger) { s.write(1<<40, empty, rdma.Segment) }},
		"writes before the memory":  {0, func(s *stranger) { s.to.At -= 64; s.write(0, empty, rdma.Segment) }},
		"writes with another key":   {0, func(s *stranger) { s.to.Key++; s.write(slot, empty, rdma.Segment) }},
		"breaks the queue pair off": {0, func(s *stranger) { _ = s.pair.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStranger(t)
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

// TestHonestStranger: what TestHostile changes is accepted unchanged.
func TestHonestStranger(t *testing.T) {
	s := newStranger(t)
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
		s := newStranger(t)
		b, at := rdma.SegmentOf(rnd.Uint64N(3))
		for range rnd.IntN(4) {
			b[rnd.IntN(len(b))] = byte(rnd.Uint32())
		}
		s.write(uint64(at), b, rdma.Segment)
		s.write(s.to.AsideAt(), b[:rnd.IntN(len(b))], rdma.Aside)
		s.write(0, nil, rnd.Uint32())
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		_ = s.rank0.Exchange(ctx, []wire.Send{{Peer: 1, Data: make([]byte, 10)}}, []wire.Recv{{Peer: 1, Into: make([]byte, 2)}})
		cancel()
		_ = s.rank0.Close()
	}
}
