//go:build linux

package shm

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
)

func init() { scenarios["bench"] = benchPeer }

// BenchmarkExchange is a full exchange with a reduction in place between two processes: the all-reduce of two ranks.
func BenchmarkExchange(b *testing.B) {
	for _, bytes := range []int{8, 1 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20} {
		b.Run(fmt.Sprint(bytes), func(b *testing.B) {
			memory, _ := startRanks(b, fmt.Sprint("bench ", bytes), 1, 2)
			e, err := Attach(0, 2, memory)
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			r := newReducer(e, 1, bytes)
			if err := r.times(b.Context(), 4); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			b.ResetTimer()
			start := time.Now()
			if err := r.times(b.Context(), b.N); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(time.Since(start).Microseconds())/float64(b.N), "µs/op")
		})
	}
}

// benchPeer does what rank 0 says: so many exchanges, until it ends.
func benchPeer(ctx context.Context, e *Endpoint, args []string) error {
	var bytes int
	if _, err := fmt.Sscan(args[0], &bytes); err != nil {
		return err
	}
	r := newReducer(e, 0, bytes)
	for {
		if err := r.times(ctx, 0); err != nil {
			return nil
		}
	}
}

// reducer is a rank that exchanges and adds the same buffer again and again.
type reducer struct {
	e     *Endpoint
	peer  int
	call  wire.Call
	sends []wire.Send
	recvs []wire.Recv
}

func newReducer(e *Endpoint, peer, bytes int) *reducer {
	buf := make([]byte, bytes)
	return &reducer{e: e, peer: peer, sends: []wire.Send{{Peer: peer, Data: buf}},
		recvs: []wire.Recv{{Peer: peer, Into: buf, With: buf, Kernel: addFloat32, AfterSend: true, ReceivedFirst: e.rank == 1}}}
}

// times runs n exchanges; rank 1 is told the number.
func (r *reducer) times(ctx context.Context, n int) error {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], uint64(n))
	var err error
	if r.e.rank == 0 {
		err = r.e.Exchange(ctx, []wire.Send{{Peer: r.peer, Data: word[:]}}, nil)
	} else {
		err = r.e.Exchange(ctx, nil, []wire.Recv{{Peer: r.peer, Into: word[:]}})
	}
	for range binary.LittleEndian.Uint64(word[:]) {
		if err != nil {
			return err
		}
		r.call.Seq++
		r.e.Begin(&r.call)
		err = r.e.Exchange(ctx, r.sends, r.recvs)
	}
	return err
}

func addFloat32(dst, a, b []byte) {
	d, x, y := floats(dst), floats(a), floats(b)
	for len(d) >= 4 && len(x) >= 4 && len(y) >= 4 {
		d[0], d[1], d[2], d[3] = x[0]+y[0], x[1]+y[1], x[2]+y[2], x[3]+y[3]
		d, x, y = d[4:], x[4:], y[4:]
	}
	for i := range d {
		d[i] = x[i] + y[i]
	}
}

func floats(b []byte) []float32 { return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4) }

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
