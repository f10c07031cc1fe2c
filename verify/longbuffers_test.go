package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"unsafe"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// Long blocks repeat themselves: every element is the one a period before it. Collectives work element by element, so
// what they leave repeats itself as well, and the reference is asked for one period alone. That is a prime number of
// elements, so that what was moved, or left out, shows wherever transports and algorithms cut.
const period = 1021

// margin is the bytes before, between and behind long buffers, which must not change.
const margin = 192

// longBuffers are the buffers of a rank's part of a call with long blocks.
type longBuffers[T spec.Elem] struct {
	buffers[T]
	short  *rankCall
	before []byte // the margins, one after the other
	alloc  []T    // memory of fast.Alloc, if the buffers lie there
	err    error  // why there are none
}

func (of[T]) arrangeLong(ctx context.Context, c *fast.Comm, x *rankCall) rankBuffers {
	long, n := x.stretched()
	b := &longBuffers[T]{short: x}
	if x.Alloc {
		b.alloc, b.err = fast.Alloc[T](ctx, c, n/x.Type.Bytes()+1)
		long.Memory = memoryOf(b.alloc)
	} else {
		long.Memory = takeSpare(n)
	}
	if b.err != nil {
		return b
	}
	for _, m := range long.margins() {
		for i := range m {
			m[i] = byte(0x5a ^ i*29)
		}
		b.before = append(b.before, m...)
	}
	long.blocks(&x.Call, func(_ string, to, from []byte) error {
		repeat(to, from)
		return nil
	})
	b.buffers = *of[T]{}.over(c, long).(*buffers[T])
	return b
}

// spare has the memory of long calls that are over, for those that follow. To get fresh pages from the system for each
// call would take longer than the call. All are as long as any buffers of TestLong: what is never touched costs
// nothing.
var spare struct {
	sync.Mutex
	free [][]byte
}

const spareBytes = 48 << 20

// takeSpare returns n bytes, which hold anything.
func takeSpare(n int) []byte {
	spare.Lock()
	defer spare.Unlock()
	last := len(spare.free) - 1
	if last < 0 {
		return colltest.Aligned(spareBytes)[:n]
	}
	memory := spare.free[last]
	spare.free = spare.free[:last]
	return memory[:n]
}

func giveSpare(memory []byte) {
	spare.Lock()
	defer spare.Unlock()
	spare.free = append(spare.free, memory[:spareBytes])
}

func memoryOf[T spec.Elem](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*spec.TypeOf[T]().Bytes())
}

// stretched returns x with long blocks, without memory, and how much it needs. In and Out have the place to each other
// that they have in x.
func (x *rankCall) stretched() (long *rankCall, n int) {
	l := *x
	block := x.Long * x.Type.Bytes()
	lengths := func(counts []int) (long []int) {
		for range counts {
			long = append(long, x.Long)
		}
		return long
	}
	l.InCounts, l.OutCounts = lengths(x.InCounts), lengths(x.OutCounts)
	in, out := block*len(l.InCounts), block*len(l.OutCounts)
	l.InAt = margin + x.InAt%64
	if l.OutAt = l.InAt + in + margin + x.OutAt%64; x.InPlace && len(x.In()) > 0 && len(x.Out()) > 0 {
		shift := (x.OutAt - x.InAt) / (period * x.Type.Bytes()) * block
		l.InAt += max(0, -shift)
		l.OutAt = l.InAt + shift
	}
	return &l, max(l.InAt+in, l.OutAt+out) + margin
}

// margins returns the memory around the buffers.
func (x *rankCall) margins() [][]byte {
	in, out := [2]int{x.InAt, x.InAt + len(x.In())}, [2]int{x.OutAt, x.OutAt + len(x.Out())}
	begin, end := min(in[0], out[0]), max(in[1], out[1])
	all := [][]byte{x.Memory[:begin], x.Memory[end:]}
	if gap := [2]int{min(in[1], out[1]), max(in[0], out[0])}; gap[0] < gap[1] {
		all = append(all, x.Memory[gap[0]:gap[1]])
	}
	return all
}

// blocks calls f with the name of each block of x, its memory, and the period of it that short has.
func (x *rankCall) blocks(short *colltest.Call, f func(name string, long, short []byte) error) error {
	for _, b := range []struct {
		name        string
		long, short []byte
		n           int
	}{{"in", x.In(), short.In(), len(x.InCounts)}, {"out", x.Out(), short.Out(), len(x.OutCounts)}} {
		for i := range b.n {
			long, short := b.long[i*len(b.long)/b.n:][:len(b.long)/b.n], b.short[i*len(b.short)/b.n:][:len(b.short)/b.n]
			if err := f(fmt.Sprintf("block %d of %s", i, b.name), long, short); err != nil {
				return err
			}
		}
	}
	return nil
}

// repeat fills to with from, again and again.
func repeat(to, from []byte) {
	for n := copy(to, from); n < len(to); n *= 2 {
		copy(to[n:], to[:n])
	}
}

func (b *longBuffers[T]) memory() []byte { return b.x.Memory }

func (b *longBuffers[T]) invoke(ctx context.Context, start bool, receive rankBuffers) (*fast.Handle, error) {
	if b.err != nil {
		return nil, b.err
	}
	return b.buffers.invoke(ctx, start, receive)
}

// result returns one period of each block. That the rest is the same, and what lies around it as before, is seen here.
func (b *longBuffers[T]) result(err error) rankResult {
	memory := b.short.Clone().Memory
	if err == nil {
		err = b.contract(memory)
	}
	r := rankResult{Memory: memory}
	if err != nil {
		r.Err = err.Error()
	}
	return r
}

func (b *longBuffers[T]) release() {
	switch {
	case b.alloc != nil:
		_ = fast.Free(b.c, b.alloc)
	case b.err == nil:
		giveSpare(b.x.Memory)
	}
}

// contract puts the first period of each block into memory, if the others are alike.
func (b *longBuffers[T]) contract(memory []byte) error {
	margins := b.before
	for i, m := range b.x.margins() {
		if !bytes.Equal(m, margins[:len(m)]) {
			return fmt.Errorf("margin %d of the buffers was written", i)
		}
		margins = margins[len(m):]
	}
	short := b.short.Call
	short.Memory = memory
	return b.x.blocks(&short, func(name string, long, short []byte) error {
		copy(short, long)
		if n := len(short); !bytes.Equal(long[n:], long[:len(long)-n]) {
			i := n
			for long[i] == long[i-n] {
				i++
			}
			return fmt.Errorf("%s: byte %d of %d is %#x, and %#x a period before it", name, i, len(long), long[i], long[i-n])
		}
		return nil
	})
}
