//go:build linux

package shm

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/exchangetest"
	"github.com/collgen/collgen/fast/internal/wire"
)

// registry is a group whose ranks have each registered a region.
type registry struct {
	regions []*Region
	files   []int
}

// newRegistry is regions of n bytes for size ranks.
func newRegistry(t testing.TB, size, n int) *registry {
	t.Helper()
	g := &registry{regions: make([]*Region, size), files: make([]int, size)}
	for rank := range size {
		var err error
		if g.regions[rank], g.files[rank], err = NewRegion(n, rank); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// register has each endpoint register its region under a number, with descriptors of its own of all files.
func (g *registry) register(t tester, all []*Endpoint, number uint64) {
	t.Helper()
	for rank, e := range all {
		var files []int
		for _, fd := range g.files[:len(all)] {
			files = append(files, duplicate(t, fd))
		}
		if err := e.Register(number, g.regions[rank], files); err != nil {
			t.Fatal(err)
		}
	}
}

func (g *registry) close() {
	for rank := range g.regions {
		g.regions[rank].Free()
		_ = unix.Close(g.files[rank])
	}
}

// registered has messages lie in its region, so that they are read from there. After an Exchange it overwrites the
// region: nobody may read it any more.
type fromRegion struct {
	*Endpoint
	memory []byte
	used   int
	sends  []wire.Send
	recvs  []wire.Recv
}

const scribble = 0x5a

func (f *fromRegion) Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error {
	f.sends, f.recvs = append(f.sends[:0], sends...), append(f.recvs[:0], recvs...)
	for i := range f.sends {
		f.sends[i].Data = f.take(sends[i].Data)
	}
	for i := range f.recvs {
		f.move(&f.recvs[i], sends)
	}
	err := f.Endpoint.Exchange(ctx, f.sends, f.recvs)
	for i, r := range recvs {
		if err == nil && len(r.Into) > 0 && &r.Into[0] != &f.recvs[i].Into[0] {
			copy(r.Into, f.recvs[i].Into)
		}
	}
	for i := range f.memory[:f.used] {
		f.memory[i] = scribble
	}
	f.used = 0
	return err
}

// take returns a copy of data in the region, as much off alignment, while there is room.
func (f *fromRegion) take(data []byte) []byte {
	from := f.used + int(uintptr(unsafe.Pointer(unsafe.SliceData(data)))%wire.Segment)
	if len(data) == 0 || from+len(data) > len(f.memory) {
		return data
	}
	f.used = (from + len(data) + wire.Segment - 1) &^ (wire.Segment - 1)
	copy(f.memory[from:], data)
	return f.memory[from : from+len(data)]
}

// move has r receive into the region what it received into memory that is sent.
func (f *fromRegion) move(r *wire.Recv, sends []wire.Send) {
	for i := range sends {
		if len(r.Into) == 0 || len(sends[i].Data) == 0 || &sends[i].Data[0] != &r.Into[0] {
			continue
		}
		if len(r.With) > 0 && &r.With[0] == &r.Into[0] {
			r.With = f.sends[i].Data
		}
		r.Into = f.sends[i].Data
		return
	}
}

// TestTransportOfRegions tests what all transports keep with messages that lie in regions.
func TestTransportOfRegions(t *testing.T) {
	g := newRegistry(t, 10, 6<<20)
	defer g.close()
	groups := uint64(0)
	var mu sync.Mutex
	exchangetest.Run(t, func(t *testing.T, size int) []exchangetest.Transport {
		if size < 2 {
			t.Skip("memory is shared by two or more")
		}
		if size > len(g.regions) {
			t.Fatalf("there are regions for %d ranks, not for %d", len(g.regions), size)
		}
		mu.Lock()
		defer mu.Unlock()
		endpoints := group(t, size)
		groups++
		g.register(t, endpoints, groups)
		var all []exchangetest.Transport
		half := len(g.regions[0].Bytes) / 2 // two groups serve at once
		for rank, e := range endpoints {
			from := int(groups%2) * half
			all = append(all, &fromRegion{Endpoint: e, memory: g.regions[rank].Bytes[from : from+half]})
		}
		return all
	})
}

// TestRegion: a region has zeros, is read by others and written by its owner alone, keeps its length, and its
// beginnings are apart.
func TestRegion(t *testing.T) {
	starts := map[uintptr]bool{}
	for salt, n := range []int{0, 1, 4096 - regionStagger, 4096, 100_003, huge - 1, huge, 5<<20 + 1} {
		r, fd, err := NewRegion(n, salt)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Bytes) != n || cap(r.Bytes) != n || bytes.Count(r.Bytes, []byte{0}) != n {
			t.Errorf("%d bytes: there are %d, of %d, not all of them zeros", n, len(r.Bytes), cap(r.Bytes))
		}
		start := address(r.Bytes)
		if start%wire.Segment != 0 || starts[start%4096] || n >= huge && address(r.mapped)%huge != 0 {
			t.Errorf("%d bytes begin at %#x, the file at %#x", n, start, address(r.mapped))
		}
		starts[start%4096] = true
		for i := range r.Bytes {
			r.Bytes[i] = byte(i)
		}
		mapped, err := openRegion(fd)
		if err != nil || !bytes.Equal(mapped[start-address(r.mapped):][:n], r.Bytes) {
			t.Errorf("%d bytes: others read something else: %v", n, err)
		}
		if b, err := unix.Mmap(fd, 0, len(mapped), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
			t.Errorf("%d bytes: others can write", n)
			_ = unix.Munmap(b)
		}
		if unix.Ftruncate(fd, 0) == nil || unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0,
			4096) == nil {
			t.Errorf("%d bytes: others can take memory away", n)
		}
		unmapShared(mapped)
		r.Free()
		_ = unix.Close(fd)
	}
}

func TestRegionTooLarge(t *testing.T) {
	for _, n := range []int{-1, math.MaxInt >> 13, math.MaxInt} {
		if r, _, err := NewRegion(n, 0); err == nil || !strings.Contains(err.Error(),
			fmt.Sprint("allocating ", n, " bytes")) {
			t.Errorf("%d bytes: %v, %v", n, r, err)
		}
	}
}

// TestOpenRegion refuses what another process should not have sent.
func TestOpenRegion(t *testing.T) {
	whole := func(fd int) error { return unix.Fallocate(fd, 0, 0, 8192) }
	seal := func(seals int, before ...func(fd int) error) func(int) error {
		return func(fd int) error {
			for _, f := range before {
				if err := f(fd); err != nil {
					return err
				}
			}
			_, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
			return err
		}
	}
	for name, prepare := range map[string]func(fd int) error{
		"no seals":   whole,
		"shrinkable": seal(regionSeals&^unix.F_SEAL_SHRINK, whole),
		"writable":   seal(seals, whole),
		"empty":      seal(regionSeals),
		"uneven":     seal(regionSeals, func(fd int) error { return unix.Fallocate(fd, 0, 0, 8191) }),
		"holes":      seal(regionSeals, func(fd int) error { return unix.Ftruncate(fd, 8192) }),
		"huge":       seal(regionSeals, func(fd int) error { return unix.Ftruncate(fd, 1<<62) }),
	} {
		fd, err := unix.MemfdCreate("refused", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err == nil {
			err = prepare(fd)
		}
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := openRegion(fd); err == nil {
			t.Errorf("%s: it is accepted", name)
		}
		if maps, err := os.ReadFile("/proc/self/maps"); err != nil || strings.Contains(string(maps), "memfd:refused") {
			t.Errorf("%s: it is still mapped (%v)", name, err)
		}
		_ = unix.Close(fd)
	}
	if _, err := openRegion(0); err == nil {
		t.Error("the standard input is accepted")
	}
}

// TestRegisteredPlace finds data by their address in one of many regions.
func TestRegisteredPlace(t *testing.T) {
	all := group(t, 2)
	defer closeGroup(all)
	e := all[0]
	var regions []*Region
	for number := range uint64(9) {
		r, fd, err := NewRegion(10_000, int(number))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Free()
		if err := e.Register(number, r, []int{-1, fd}); err != nil {
			t.Fatal(err)
		}
		regions = append(regions, r)
	}
	for number, r := range regions {
		for _, x := range [][2]int{{0, 10_000}, {0, 1}, {9999, 1}, {777, 1000}} {
			p, ok := e.registeredPlace(r.Bytes[x[0] : x[0]+x[1]])
			want := place{number: uint64(number), at: uint64(address(r.Bytes)-address(r.mapped)) + uint64(x[0]),
				length: uint64(x[1])}
			if !ok || p != want {
				t.Errorf("%v of region %d: %+v, %v, want %+v", x, number, p, ok, want)
			}
		}
	}
	if p, ok := e.registeredPlace(make([]byte, 10)); ok {
		t.Errorf("memory of the program: %+v", p)
	}
	for _, b := range [][]byte{regions[0].mapped, regions[8].mapped} { // only its address is looked at
		if p, ok := e.registeredPlace(unsafe.Slice(&b[1], len(b))); ok {
			t.Errorf("one byte more than a region has: %+v", p)
		}
	}
	e.Unregister(4)
	if p, ok := e.registeredPlace(regions[4].Bytes); ok {
		t.Errorf("a region that is not registered any more: %+v", p)
	}
	if _, ok := e.registeredPlace(regions[5].Bytes); !ok {
		t.Error("the next one is gone, too")
	}
}

// TestRegisterRefused: one bad file, and nothing is registered and no file stays open.
func TestRegisterRefused(t *testing.T) {
	files, mapped := openFilesOf(t), mappings(t)
	all := group(t, 3)
	r, fd, err := NewRegion(1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	null, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := all[0].Register(1, r, []int{-1, fd, null}); err == nil || !strings.Contains(err.Error(), "rank 2") {
		t.Error(err)
	}
	if _, ok := all[0].registeredPlace(r.Bytes); ok || all[0].links[1].region(1) != nil {
		t.Error("it is registered")
	}
	closeGroup(all)
	if err := all[0].Register(1, r, nil); err == nil {
		t.Error("a closed endpoint registers")
	}
	r.Free()
	if f, m := openFilesOf(t), mappings(t); f != files || m != mapped {
		t.Errorf("%d files and %d mappings, before %d and %d", f, m, files, mapped)
	}
}
