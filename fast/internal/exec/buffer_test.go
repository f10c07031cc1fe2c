package exec

import (
	"errors"
	"strconv"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// layout returns a call of a size-1 communicator, laid out.
func layout(t testing.TB, typ spec.Type, count, blocks, chunks, slots int) *Call {
	t.Helper()
	x := alone()
	x.Count, x.Elem = count, typ
	x.In.Data = make([]byte, blocks*count*typ.Bytes())
	if err := x.Layout(chunks, slots); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestChunks compares chunks with their definition: chunk i of c of a block of n elements has n/c of them, and one more
// if i < n%c; together they are the buffer.
func TestChunks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		typ := rapid.SampledFrom(spec.Types()).Draw(rt, "type")
		count, chunks := rapid.IntRange(0, 40).Draw(rt, "count"), rapid.IntRange(1, 12).Draw(rt, "chunks")
		blocks, slots := rapid.IntRange(0, 5).Draw(rt, "blocks"), rapid.IntRange(0, 5).Draw(rt, "slots")
		x := layout(t, typ, count, blocks, chunks, slots)
		at := 0
		for i := range blocks * chunks {
			want := count / chunks
			if i%chunks < count%chunks {
				want++
			}
			want *= typ.Bytes()
			checkRegion(rt, "chunk", x.In.Data, x.In.Chunk(i), at, want)
			checkRegion(rt, "slot of a buffer", x.In.Data, x.In.Slot(i, 0), at, want)
			for s := range slots {
				checkRegion(rt, "slot", x.Scratch.Data, x.Scratch.Slot(s, i), s*slotBytes(count, chunks, typ), want)
			}
			checkRegion(rt, "span", x.In.Data, x.In.Span(0, i), 0, at)
			checkRegion(rt, "rest", x.In.Data, x.In.Span(i, blocks*chunks-i), at, len(x.In.Data)-at)
			at += want
		}
		if at != len(x.In.Data) {
			rt.Fatalf("the chunks have %d bytes of %d", at, len(x.In.Data))
		}
		checkRegion(rt, "all slots", x.Scratch.Data, x.Scratch.Span(0, slots), 0, slots*slotBytes(count, chunks, typ))
	})
}

func slotBytes(count, chunks int, typ spec.Type) int {
	return (count + chunks - 1) / chunks * typ.Bytes()
}

// checkRegion compares a region's place and length. It may not be extended.
func checkRegion(t *rapid.T, what string, whole, region []byte, at, length int) {
	t.Helper()
	if len(region) != length || cap(region) != length {
		t.Fatalf("%s: %d bytes, capacity %d, want %d", what, len(region), cap(region), length)
	}
	if length > 0 && unsafe.SliceData(region) != &whole[at] {
		t.Fatalf("%s: not at %d", what, at)
	}
}

// TestFarOffsets: what begins behind the first 2 GiB of a buffer begins there.
func TestFarOffsets(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("no buffer is as long here")
	}
	block := 3 << 29
	block *= 2
	for _, chunks := range []int{1, 4} {
		b := &Buffer{Cuts: &Cuts{block: block, Chunks: chunks, short: block / chunks, elem: 1}}
		if got := b.offset(5 * chunks); got != 5*block {
			t.Errorf("in %d chunks: block 5 begins at %d", chunks, got)
		}
	}
}

// TestLayoutRefuses has layouts that there cannot be.
func TestLayoutRefuses(t *testing.T) {
	for _, test := range []struct{ count, chunks, slots int }{
		{1, 0, 0}, {1, -1, 0}, {1, 1, -1}, {1, 1, maxInt >> 13}, {maxInt >> 23, 1, maxInt >> 23}, {1 << 14, 1, 1<<16 + 1},
		{maxInt / 16, 1, 3}, {maxInt / 16, 2, maxInt},
	} {
		x := alone()
		x.Collective, x.Count, x.Elem = &Collective{Name: "Test"}, test.count, spec.TypeComplex128
		if err := x.Layout(test.chunks, test.slots); !errors.Is(err, wire.ErrInvalidArgument) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// TestMemory is aligned, grows by need, and stays.
func TestMemory(t *testing.T) {
	var m memory
	for _, n := range []int{0, 1, 63, 64, 65, 1000} {
		data := m.Need(n)
		if len(data) != n || uintptr(unsafe.Pointer(unsafe.SliceData(data)))%CacheLine != 0 && n > 0 {
			t.Errorf("%d bytes: %d at %p", n, len(data), unsafe.SliceData(data))
		}
	}
	before := unsafe.SliceData(m.Need(1000))
	if m.Need(10); unsafe.SliceData(m.Need(1000)) != before {
		t.Error("memory that is enough was not used again")
	}
}

// alone returns a call of the only rank of a communicator.
func alone() *Call {
	e := new(Executor)
	e.SetUp(0, 1, nil)
	return &e.Call
}
