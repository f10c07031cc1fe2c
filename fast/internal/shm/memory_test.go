//go:build linux

package shm

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestLayout: everything has its place, apart from everything else and aligned, within the bounds that are documented.
func TestLayout(t *testing.T) {
	for what, is := range map[string][2]uintptr{
		"header":   {unsafe.Sizeof(header{}), 4096},
		"control":  {unsafe.Sizeof(control{}), 256 + history*120},
		"record":   {unsafe.Sizeof(record{}), 120},
		"line":     {unsafe.Sizeof(line{}), 128},
		"ringHead": {unsafe.Sizeof(ringHead{}), depth*128 + slots*120 + 448},
		"closed":   {unsafe.Offsetof(control{}.closed), 128},
		"calls":    {unsafe.Offsetof(control{}.calls), 256},
		"tail":     {unsafe.Offsetof(ringHead{}.tail), depth * 128},
	} {
		if is[0] != is[1] {
			t.Errorf("%s: %d, want %d", what, is[0], is[1])
		}
	}
	// As idleBytes and memoryBytes say:
	for size, kib := range map[int][2]int{2: {52, 2108}, 4: {248, 14700}, 8: {1_000, 62_700}, 64: {64_900, 131_800},
		256: {1_039_800, 1_110_500}} {
		idle, all := idleBytes(size)>>10, memoryBytes(size)>>10
		if idle > kib[0] || all > kib[1] || idle < kib[0]*9/10 || all < kib[1]*9/10 {
			t.Errorf("%d ranks: %d KiB, then %d, want %d", size, idle, all, kib)
		}
	}
	for size := 2; size <= MaxSize; size++ {
		ring, multicast, slot := fullSlots(size)
		data, crowd := size*((size-1)*ring+multicast)*slot, size > few
		if slot%wire.Segment != 0 || slot <= small || slot > maxSlot || data > budget ||
			(crowd && slot < maxSlot && 2*data <= budget) ||
			ring > slots || multicast > maxMulticastSlots || (ring == 0) != crowd || (multicast == 0) != (size == 2) {
			t.Fatalf("%d ranks: %d and %d slots of %d bytes", size, ring, multicast, slot)
		}
		if ringBytes%128 != 0 || rowBytes(1, slot)%64 != 0 || memoryBytes(size) > idleBytes(size)+69<<20 {
			t.Fatalf("%d ranks: slots of %d bytes, %d KiB in all", size, slot, memoryBytes(size)>>10)
		}
	}
}

// TestPlaces marks each control block and ring as its own, and looks for marks that were overwritten.
func TestPlaces(t *testing.T) {
	for _, size := range []int{2, 3, 5, 17} {
		m := &memory{bytes: make([]byte, memoryBytes(size)), size: size}
		m.initialize()
		places := [][]byte{m.bytes[:unsafe.Sizeof(header{})]}
		for rank := range size {
			places = append(places, unsafe.Slice((*byte)(unsafe.Pointer(m.control(rank))), unsafe.Sizeof(control{})))
			for to := range size {
				if to != rank {
					r := m.ring(rank, to)
					places = append(places, unsafe.Slice((*byte)(unsafe.Pointer(r.head)), unsafe.Sizeof(ringHead{})))
					places = append(append(places, slotsOf(r.small)...), slotsOf(r.full)...)
				}
			}
			little, full := m.multicast(rank)
			places = append(append(places, slotsOf(little)...), slotsOf(full)...)
		}
		for _, p := range places {
			for i := range p {
				if p[i] == canary {
					t.Fatalf("%d ranks: two things at one place", size)
				}
				p[i] = canary
			}
		}
	}
}

// slotsOf returns the slots of a row.
func slotsOf(r row) (all [][]byte) {
	for i := range r.n {
		all = append(all, r.data(i, r.slot))
	}
	return all
}

func TestMemoryKeepsItsLength(t *testing.T) {
	fd, err := Create(2)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for _, n := range []int64{0, 4096, 1 << 30} {
		if unix.Ftruncate(fd, n) == nil {
			t.Errorf("the memory can be given %d bytes", n)
		}
	}
}

// TestOpenMemory refuses what another process should not have sent.
func TestOpenMemory(t *testing.T) {
	for name, prepare := range map[string]func(fd int) error{
		"no seals":     func(fd int) error { return unix.Ftruncate(fd, int64(memoryBytes(2))) },
		"shrinkable":   func(fd int) error { return truncateAndSeal(fd, memoryBytes(2), unix.F_SEAL_GROW|unix.F_SEAL_SEAL) },
		"too short":    func(fd int) error { return truncateAndSeal(fd, memoryBytes(2)-4096, seals) },
		"empty":        func(fd int) error { return truncateAndSeal(fd, 0, seals) },
		"without head": func(fd int) error { return truncateAndSeal(fd, memoryBytes(2), seals) },
	} {
		fd, err := unix.MemfdCreate("refused", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err == nil {
			err = prepare(fd)
		}
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := openMemory(fd, 2); err == nil {
			t.Errorf("%s: it is accepted", name)
		}
		if maps, err := os.ReadFile("/proc/self/maps"); err != nil || strings.Contains(string(maps), "memfd:refused") {
			t.Errorf("%s: it is still mapped (%v)", name, err)
		}
		_ = unix.Close(fd)
	}
	if _, err := openMemory(0, 2); err == nil {
		t.Error("the standard input is accepted")
	}
}

func truncateAndSeal(fd, bytes, seals int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, 0)
	if err == nil {
		err = unix.Ftruncate(fd, int64(bytes))
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	return err
}

// TestNoMemory: what cannot be allocated is an error, and nothing stays open.
func TestNoMemory(t *testing.T) {
	defer func() { allocate = unix.Fallocate }()
	allocate = func(int, uint32, int64, int64) error { return unix.ENOSPC }
	files := openFilesOf(t)
	_, err := Create(3)
	if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "for 3 ranks") {
		t.Error(err)
	}
	if n := openFilesOf(t); n != files {
		t.Errorf("%d open files, before %d", n, files)
	}
}

// TestIdleParts: the ranks allocate all that they have from the beginning, none of it twice, and the first one what all
// use when they attach.
func TestIdleParts(t *testing.T) {
	for size := 2; size <= MaxSize; size++ {
		at := 0
		for rank := range size {
			from, to := idlePart(rank, size)
			if from != at || to < from || from%huge != 0 && from < idleBytes(size) {
				t.Errorf("rank %d of %d allocates bytes %d to %d, after %d", rank, size, from, to, at)
			}
			at = to
		}
		if _, first := idlePart(0, size); at != idleBytes(size) || first < ringsOffset(size) {
			t.Errorf("%d ranks: %d bytes are allocated, %d of them by the first one, want %d and %d", size, at, first,
				idleBytes(size), ringsOffset(size))
		}
	}
}

// TestOwnPart: each rank allocates its part, and says so if there is no memory for it.
func TestOwnPart(t *testing.T) {
	const size = 24
	memory, err := Create(size)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(memory)
	there := func() int {
		var s unix.Stat_t
		if err := unix.Fstat(memory, &s); err != nil {
			t.Fatal(err)
		}
		return int(s.Blocks * 512)
	}
	allocate = func(int, uint32, int64, int64) error { return unix.ENOSPC }
	_, err = Attach(1, size, duplicate(t, memory))
	if allocate = unix.Fallocate; !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "for 24 ranks") {
		t.Error(err)
	}
	for rank := range size {
		e, err := Attach(rank, size, duplicate(t, memory))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if _, to := idlePart(rank, size); there() < to {
			t.Errorf("rank %d has attached, and %d bytes are there, want %d", rank, there(), to)
		}
	}
}

// TestInterrupted: a signal is no reason not to get memory.
func TestInterrupted(t *testing.T) {
	defer func() { allocate = unix.Fallocate }()
	calls := 0
	allocate = func(fd int, mode uint32, off, n int64) error {
		if calls++; calls < 3 {
			return unix.EINTR
		}
		return unix.Fallocate(fd, mode, off, n)
	}
	closeGroup(group(t, 2))
	if calls != 3 {
		t.Errorf("%d calls", calls)
	}
}

// TestFileSizeLimit is a limit that the system itself enforces, in a process of its own.
func TestFileSizeLimit(t *testing.T) {
	if os.Getenv("COLLGEN_SHM_LIMITED") != "" {
		limit := unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(2); !errors.Is(err, unix.EFBIG) {
			t.Errorf("the error is %v", err)
		}
		return
	}
	c := exec.Command("/proc/self/exe", "-test.run=^TestFileSizeLimit$")
	c.Env = append(os.Environ(), "COLLGEN_SHM_LIMITED=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAttachRefuses(t *testing.T) {
	memory, err := Create(2)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(memory)
	files := openFilesOf(t)
	for _, c := range []struct{ rank, size int }{{0, 1}, {2, 2}, {-1, 2}, {0, MaxSize + 1}, {0, 3}} {
		if _, err := Attach(c.rank, c.size, duplicate(t, memory)); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if n := openFilesOf(t); n != files {
		t.Errorf("%d open files, before %d", n, files)
	}
	for _, size := range []int{-1, 0, 1, MaxSize + 1} {
		if _, err := Create(size); err == nil {
			t.Errorf("%d ranks are accepted", size)
		}
	}
}

// duplicate returns another descriptor of a file.
func duplicate(t tester, fd int) int {
	t.Helper()
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return dup
}
