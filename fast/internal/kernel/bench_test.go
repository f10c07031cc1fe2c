package kernel

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/collgen/collgen/spec"
)

// levels are operand sizes that fit into the caches of the first, second and third level, and into none.
var levels = []struct {
	name  string
	bytes int
}{{"L1", 16 << 10}, {"L2", 256 << 10}, {"L3", 4 << 20}, {"DRAM", 64 << 20}}

// ranks is what averages are divided by.
const ranks = 3

// operandsOf are so many operands in memory of their own, with numbers that stay ordinary in sums and products.
func operandsOf(count, bytes int) [][]byte {
	all := make([][]byte, count)
	for i := range all {
		memory, _ := newHuge(bytes)
		all[i] = memory
		for j := range memory {
			memory[j] = 0x3f // floats about 1, whose errors are not subnormal
		}
	}
	return all
}

// BenchmarkKernel measures every implementation, in place.
func BenchmarkKernel(b *testing.B) {
	x := operandsOf(2, levels[3].bytes)
	forEach(b, func(b *testing.B, op spec.Op, typ spec.Type) {
		for _, c := range candidates {
			if c.missing != "" {
				continue
			}
			for _, l := range levels {
				b.Run(c.name+"/"+l.name, func(b *testing.B) {
					b.SetBytes(int64(l.bytes))
					b.ReportAllocs()
					k := c.kernel(op, typ)
					for b.Loop() {
						k(x[0][:l.bytes], x[0][:l.bytes], x[1][:l.bytes])
					}
				})
			}
		}
	})
}

// forEach benchmarks each operator on each type that it takes.
func forEach(b *testing.B, bench func(*testing.B, spec.Op, spec.Type)) {
	for _, op := range spec.Ops() {
		for _, typ := range spec.Types() {
			if op.Takes(typ) && op != spec.OpAvg { // whose kernels are Sum's
				b.Run(fmt.Sprintf("%v/%v", op, typ), func(b *testing.B) { bench(b, op, typ) })
			}
		}
	}
}

// BenchmarkFold measures many operands at once ("many") and one after the other, in gigabytes of the result.
func BenchmarkFold(b *testing.B) {
	x, spare := operandsOf(9, 16<<20), make([]byte, Piece)
	for _, typ := range []spec.Type{spec.TypeFloat16, spec.TypeBFloat16, spec.TypeFloat32, spec.TypeFloat64} {
		k, many := For(spec.OpSum, typ), ManyFor(spec.OpSum, typ)
		for _, count := range []int{2, 3, 4, 8} {
			for _, l := range levels[:3] {
				for name, m := range map[string]Many{"many": many, "kernels": nil, "exact": ExactFor(typ)} {
					b.Run(fmt.Sprintf("%v/%d/%s/%s", typ, count, l.name, name), func(b *testing.B) {
						operands := make([][]byte, count)
						for i := range operands {
							operands[i] = x[i][:l.bytes]
						}
						b.SetBytes(int64(l.bytes))
						b.ReportAllocs()
						for b.Loop() {
							Fold(k, m, x[8][:l.bytes], operands, spare)
						}
					})
				}
			}
		}
	}
}

// BenchmarkDivide measures what finishes an average.
func BenchmarkDivide(b *testing.B) {
	x := operandsOf(1, levels[3].bytes)[0]
	for _, typ := range spec.Types() {
		for _, c := range candidates {
			for _, l := range levels {
				b.Run(fmt.Sprintf("%v/%s/%s", typ, c.name, l.name), func(b *testing.B) {
					if c.missing != "" {
						b.Skipf("this processor has no %s", c.missing)
					}
					b.SetBytes(int64(l.bytes))
					for b.Loop() {
						c.finish(spec.OpAvg, typ, x[:l.bytes], ranks)
					}
				})
			}
		}
	}
}

// BenchmarkCopy measures Copy beside Go's own copy.
func BenchmarkCopy(b *testing.B) {
	x := operandsOf(2, levels[3].bytes)
	for _, n := range []int{64, 1 << 10, 16 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20} {
		for name, f := range map[string]func(dst, src []byte){"go": func(dst, src []byte) { copy(dst, src) },
			"kernel": Copy} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					f(x[0][:n], x[1][:n])
				}
			})
		}
	}
}

// BenchmarkAgainstC compares the best implementation with what gcc -O3 -march=native makes of a plain loop. Both take
// turns; of-gcc is gcc's median time divided by ours, so that 1 is as fast, and GB/s is that of an operand.
// -benchtime=20x makes 20 turns.
func BenchmarkAgainstC(b *testing.B) {
	c := startBaseline(b)
	x := operandsOf(2, levels[3].bytes)
	forEach(b, func(b *testing.B, op spec.Op, typ spec.Type) {
		k := For(op, typ)
		c.race(b, op.String(), typ, func(from, to int) { k(x[0][from:to], x[0][from:to], x[1][from:to]) })
	})
	for _, typ := range spec.Types() {
		if typ.Class() == spec.Complex {
			continue // two floats
		}
		b.Run("divide/"+typ.String(), func(b *testing.B) {
			c.race(b, "divide", typ, func(from, to int) { Finish(spec.OpAvg, typ, x[0][from:to], ranks) })
		})
	}
	b.Run("copy", func(b *testing.B) {
		c.race(b, "copy", spec.TypeUint8, func(from, to int) { Copy(x[0][from:to], x[1][from:to]) })
	})
}

// baseline is the program of testdata/baseline.c, running.
type baseline struct {
	pid int
	in  io.Writer
	out *bufio.Reader
}

// startBaseline builds and starts it. Without gcc there is nothing to compare with.
func startBaseline(b *testing.B) *baseline {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		b.Skip("not compared with C: there is no gcc: ", err)
	}
	program := filepath.Join(b.TempDir(), "baseline")
	if out, err := exec.Command(gcc, "-O3", "-march=native", "-o", program,
		"testdata/baseline.c").CombinedOutput(); err != nil {
		b.Skipf("not compared with C: gcc cannot build it: %v\n%s", err, out)
	}
	cmd := exec.Command(program, fmt.Sprint(levels[3].bytes), fmt.Sprint(ranks))
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	return &baseline{cmd.Process.Pid, in, bufio.NewReader(out)}
}

// race lets both sides take turns of about 200 µs, or one call. Each turn is in another huge page: how memory lies in
// the caches differs between pages, and so between processes, by more than the kernels do.
func (c *baseline) race(b *testing.B, op string, typ spec.Type, call func(from, to int)) {
	for _, l := range levels {
		b.Run(l.name, func(b *testing.B) {
			defer shareProcessor(c.pid)()
			const page = 2 << 20
			calls, pages := max(1, 4<<20/l.bytes), (levels[3].bytes-l.bytes)/page+1
			var ours, theirs []float64
			for b.Loop() {
				from := len(ours) % pages * page
				theirs = append(theirs, c.turn(b, op, typ, from, l.bytes, calls))
				ours = append(ours, turn(func() { call(from, from+l.bytes) }, calls))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(theirs)/median(ours), "of-gcc")
			b.ReportMetric(float64(l.bytes)/median(ours), "GB/s")
		})
	}
}

// turn returns the nanoseconds of a call.
func turn(call func(), calls int) float64 {
	call()
	begin := time.Now()
	for range calls {
		call()
	}
	return float64(time.Since(begin)) / float64(calls)
}

func (c *baseline) turn(b *testing.B, op string, typ spec.Type, from, bytes, calls int) (ns float64) {
	if _, err := fmt.Fprintf(c.in, "%s %v %d %d %d\n", op, typ, from, bytes, calls); err != nil {
		b.Fatal(err)
	}
	if _, err := fmt.Fscanln(c.out, &ns); err != nil {
		b.Fatal(err)
	}
	if ns < 0 {
		b.Skip("not compared with C: baseline.c has no such loop")
	}
	return ns
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
