package tcp

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
)

// BenchmarkExchange is a full exchange with a reduction in place between two endpoints in this process: the all-reduce
// of two ranks.
func BenchmarkExchange(b *testing.B) {
	for _, name := range []string{"plain", "encrypted"} {
		for _, bytes := range []int{8, 1 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20} {
			b.Run(fmt.Sprint(name, "/", bytes), func(b *testing.B) {
				twoRanks(b, worlds[name], func(e *Endpoint) func() error {
					buf := unsafe.Slice((*byte)(unsafe.Pointer(&make([]float32, bytes/4)[0])), bytes)
					peer := 1 - e.Rank
					sends := []wire.Send{{Peer: peer, Data: buf}}
					recvs := []wire.Recv{{Peer: peer, Into: buf, AfterSend: true,
						With: buf, Kernel: addFloat32, ReceivedFirst: e.Rank == 1}}
					return func() error { return e.Exchange(b.Context(), sends, recvs) }
				})
				b.SetBytes(int64(bytes))
			})
		}
	}
}

// BenchmarkPingPong is a message there and one back.
func BenchmarkPingPong(b *testing.B) {
	for _, bytes := range []int{8, 64 << 10, 1 << 20, 64 << 20} {
		b.Run(fmt.Sprint(bytes), func(b *testing.B) {
			twoRanks(b, worlds["plain"], func(e *Endpoint) func() error {
				peer, buf := 1-e.Rank, make([]byte, bytes)
				send := func() error { return e.Exchange(b.Context(), []wire.Send{{Peer: peer, Data: buf}}, nil) }
				receive := func() error { return e.Exchange(b.Context(), nil, []wire.Recv{{Peer: peer, Into: buf}}) }
				if e.Rank == 1 {
					send, receive = receive, send
				}
				return func() error {
					if err := send(); err != nil {
						return err
					}
					return receive()
				}
			})
			b.SetBytes(2 * int64(bytes))
		})
	}
}

// twoRanks has two ranks do what step makes of them b.N times, each time in a new call.
func twoRanks(b *testing.B, w world, step func(e *Endpoint) func() error) {
	all := w.group(b, 2)
	errs := make(chan error)
	run := func(e *Endpoint, f func() error, n int) {
		call := wire.Call{Seq: e.History.Begun()}
		for range n {
			call.Seq++
			e.Begin(wire.NewMark(&call))
			if err := f(); err != nil {
				errs <- err
				return
			}
		}
		errs <- nil
	}
	steps := [2]func() error{step(all[0]), step(all[1])}
	for _, n := range []int{3, b.N} { // the first ones make the links
		b.ResetTimer()
		b.ReportAllocs()
		for rank, e := range all {
			go run(e, steps[rank], n)
		}
		for range all {
			if err := <-errs; err != nil {
				b.Fatal(err)
			}
		}
	}
	b.StopTimer()
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
