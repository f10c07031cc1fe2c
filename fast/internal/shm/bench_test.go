//go:build linux

package shm

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

func init() { scenarios["bench"] = benchPeer }

// BenchmarkExchange is a full exchange with a reduction in place between two processes: the all-reduce of two ranks.
func BenchmarkExchange(b *testing.B) {
	for _, bytes := range []int{8, 64, 1 << 10, 64 << 10, 256 << 10, 1 << 20, 16 << 20, 64 << 20} {
		b.Run(fmt.Sprint(bytes), func(b *testing.B) { benchRounds(b, "swap", 2, bytes) })
	}
}

// BenchmarkOverhead is an exchange of two ranks in one goroutine, without waiting: a call that sends 8 bytes, and one
// that receives them.
func BenchmarkOverhead(b *testing.B) {
	all := group(b, 2)
	defer closeGroup(all)
	data, into := make([]byte, 8), make([]byte, 8)
	sends, recvs := []wire.Send{{Peer: 1, Data: data}}, []wire.Recv{{Peer: 0, Into: into, With: into, Kernel: addFloat32}}
	calls := [2]wire.Call{{Primitive: 1}, {Primitive: 1}}
	b.ReportAllocs()
	for b.Loop() {
		calls[0].Seq++
		calls[1].Seq++
		all[0].Begin(wire.NewMark(&calls[0]))
		all[1].Begin(wire.NewMark(&calls[1]))
		if err := all[0].Exchange(b.Context(), sends, nil); err != nil {
			b.Fatal(err)
		}
		if err := all[1].Exchange(b.Context(), nil, recvs); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFlat is the all-reduce in which all ranks send all they have to all others, and add up what they are lent.
func BenchmarkFlat(b *testing.B) {
	for _, size := range []int{2, 4, 8} {
		for _, bytes := range []int{8, 64, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("ranks=%d/bytes=%d", size, bytes), func(b *testing.B) { benchRounds(b, "flat", size, bytes) })
		}
	}
}

func benchRounds(b *testing.B, kind string, size, bytes int) {
	memory, _ := startRanks(b, fmt.Sprint("bench ", kind, " ", bytes), 1, size)
	e, err := Attach(0, size, memory)
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	r := newRounds(e, kind, bytes)
	if err := r.times(b.Context(), 100); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	b.ResetTimer()
	start := time.Now()
	if err := r.times(b.Context(), b.N); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(start).Nanoseconds())/1000/float64(b.N), "µs/op")
}

// benchPeer does what rank 0 says: so many rounds, until it ends.
func benchPeer(ctx context.Context, e *Endpoint, args []string) error {
	var bytes int
	if _, err := fmt.Sscan(args[1], &bytes); err != nil {
		return err
	}
	r := newRounds(e, args[0], bytes)
	for {
		if err := r.times(ctx, 0); err != nil {
			return nil
		}
	}
}

// rounds is a rank that makes the same call again and again.
type rounds struct {
	e     *Endpoint
	call  wire.Call
	data  []byte
	sends []wire.Send
	recvs []wire.Recv // as they are before each call
	now   []wire.Recv
}

func newRounds(e *Endpoint, kind string, bytes int) *rounds {
	r := &rounds{e: e, data: make([]byte, bytes)}
	for peer := range e.mem.size {
		if peer == e.rank {
			continue
		}
		r.sends = append(r.sends, wire.Send{Peer: peer, Data: r.data})
		recv := wire.Recv{Peer: peer, Into: r.data, With: r.data, Kernel: addFloat32, AfterSend: true,
			ReceivedFirst: e.rank == 1}
		if kind == "flat" {
			recv = wire.Recv{Peer: peer, Into: make([]byte, bytes), Lend: true}
		}
		r.recvs = append(r.recvs, recv)
	}
	r.now = make([]wire.Recv, len(r.recvs))
	return r
}

// once makes one call.
func (r *rounds) once(ctx context.Context) error {
	r.call.Seq++
	r.e.Begin(wire.NewMark(&r.call))
	copy(r.now, r.recvs)
	if err := r.e.Exchange(ctx, r.sends, r.now); err != nil {
		return err
	}
	for i := range r.now {
		if m := &r.now[i]; m.Kernel == nil {
			addFloat32(r.data, r.data, m.Into)
		}
	}
	return nil
}

// times makes n calls; rank 0 tells the others the number.
func (r *rounds) times(ctx context.Context, n int) error {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], uint64(n))
	var err error
	if r.e.rank == 0 {
		for i := 0; i < len(r.sends) && err == nil; i++ {
			err = r.e.Exchange(ctx, []wire.Send{{Peer: r.sends[i].Peer, Data: word[:]}}, nil)
		}
	} else {
		err = r.e.Exchange(ctx, nil, []wire.Recv{{Peer: 0, Into: word[:]}})
	}
	for i := binary.LittleEndian.Uint64(word[:]); i > 0 && err == nil; i-- {
		err = r.once(ctx)
	}
	return err
}

var addFloat32 = kernel.For(spec.OpSum, spec.TypeFloat32)

// BenchmarkCopy is the machine's limit: both processors copy at once, in pieces that stay in the cache on the way.
func BenchmarkCopy(b *testing.B) {
	const bytes = 64 << 20
	copyAll := func(dst, src []byte) {
		for len(src) > 0 {
			n := copy(dst, src[:min(len(src), 128<<10)])
			dst, src = dst[n:], src[n:]
		}
	}
	done := make(chan bool)
	b.SetBytes(bytes)
	var bufs [4][]byte
	for i := range bufs {
		bufs[i] = make([]byte, bytes)
		for j := range bufs[i] {
			bufs[i][j] = byte(j)
		}
	}
	b.ResetTimer()
	for _, i := range []int{0, 2} {
		go func() {
			for range b.N {
				copyAll(bufs[i], bufs[i+1])
			}
			done <- true
		}()
	}
	<-done
	<-done
}
