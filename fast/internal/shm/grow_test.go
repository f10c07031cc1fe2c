//go:build linux

package shm

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// fileGroup returns the endpoints of size ranks, and a descriptor of their memory.
func fileGroup(t *testing.T, size int) (all []*Endpoint, memory int) {
	t.Helper()
	memory, err := Create(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(memory) })
	for rank := range size {
		e, err := Attach(rank, size, duplicate(t, memory))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	t.Cleanup(func() { closeGroup(all) })
	return all, memory
}

// allocated returns how many bytes of a file have memory.
func allocated(t *testing.T, fd int) int {
	t.Helper()
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		t.Fatal(err)
	}
	return int(s.Blocks * 512)
}

// TestGrow: what ranks have from the beginning is enough for short messages; for long ones a rank takes its full slots,
// which belong to what all endpoints of a process may take until the memory is unmapped.
func TestGrow(t *testing.T) {
	before := grownAll.Load()
	for size, idle := range map[int]int{2: 52 << 10, 4: 248 << 10} {
		all, memory := fileGroup(t, size)
		for _, n := range []int{0, 1, inline + 1, small} {
			if segmentsOf(t, all[:2], make([]byte, n), false) != 1 {
				t.Errorf("%d ranks: %d bytes do not fit into a slot", size, n)
			}
		}
		if got := allocated(t, memory); got > idle {
			t.Errorf("%d ranks have %d bytes, and have only talked shortly: want at most %d", size, got, idle)
		}
		if got := segmentsOf(t, all[:2], make([]byte, maxSlot+1), false); got != 2 {
			t.Errorf("%d ranks: %d segments", size, got)
		}
		taken := grownAll.Load() - before
		if got := allocated(t, memory); !all[0].grown || all[1].grown || taken < int64(ownBytes(size)) ||
			got > idle+int(taken) {
			t.Errorf("%d ranks have %d bytes, of which %d are said to be for long messages", size, got, taken)
		}
		closeGroup(all)
		if grownAll.Load() != before {
			t.Errorf("%d ranks: it is still said to be taken", size)
		}
	}
}

// TestGrowsNot: where there is no more memory, long messages go through small slots, also those for several ranks; and
// through full ones once there is.
func TestGrowsNot(t *testing.T) {
	data := make([]byte, 10*small+1)
	for name, start := range map[string]func() (undo func()){
		"the most of a process":  func() func() { grownAll.Add(mostGrown); return func() { grownAll.Add(-mostGrown) } },
		"what is left":           func() func() { _, undo := leaving(0); return undo },
		"what the system allows": func() func() { return adviseAs(unix.ENOMEM) },
	} {
		all, memory := fileGroup(t, 3)
		before, idle, undo := grownAll.Load(), allocated(t, memory), start()
		if got := segmentsOf(t, all[:2], data, true); got != 11 {
			t.Errorf("beyond %s: %d segments", name, got)
		}
		sendToAll(t, all, data)
		undo()
		if got := allocated(t, memory); got != idle || all[0].grown {
			t.Errorf("beyond %s: %d bytes, before %d", name, got, idle)
		}
		if got := grownAll.Load(); got != before && name != "what the system allows" { // which it may have given in part
			t.Errorf("beyond %s: %d bytes that were refused count", name, got-before)
		}
		for _, e := range all {
			e.refused = time.Time{} // long ago
		}
		if got := segmentsOf(t, all[:2], data, true); got != 1 {
			t.Errorf("beyond %s, then: %d segments", name, got)
		}
		sendToAll(t, all, data)
	}
}

// adviseAs has the system refuse to give memory.
func adviseAs(err error) (undo func()) {
	advise = func([]byte, int) error { return err }
	return func() { advise = unix.Madvise }
}

// TestRefusedForAWhile: a rank that gets no memory does not ask for it before each message.
func TestRefusedForAWhile(t *testing.T) {
	all, _ := fileGroup(t, 2)
	asked, undo := leaving(0)
	defer undo()
	start := time.Now()
	for range 50 {
		segmentsOf(t, all, make([]byte, 2*small), false)
	}
	if most := 1 + int(time.Since(start)/believed); *asked < 1 || *asked > most {
		t.Errorf("the system is asked %d times, want at most %d", *asked, most)
	}
}

// TestGivenInPart: what the system has given of more that it refuses belongs to what this process has taken.
func TestGivenInPart(t *testing.T) {
	before := grownAll.Load()
	all, memory := fileGroup(t, 3)
	idle := allocated(t, memory)
	advise = func(b []byte, how int) error {
		if how == unix.MADV_POPULATE_WRITE && len(b) > os.Getpagesize() {
			return unix.ENOMEM
		}
		return unix.Madvise(b, how)
	}
	all[0].growFor(maxSlot)
	advise = unix.Madvise
	given := allocated(t, memory) - idle
	if counted := grownAll.Load() - before; all[0].grown || given == 0 || counted < int64(given) {
		t.Errorf("grown: %v; %d bytes are given, and %d counted", all[0].grown, given, counted)
	}
	all[0].refused = time.Time{} // long ago
	counted := grownAll.Load()
	if all[0].growFor(maxSlot); !all[0].grown || grownAll.Load() != counted {
		t.Errorf("grown: %v; %d bytes are counted, before %d", all[0].grown, grownAll.Load(), counted)
	}
	closeGroup(all)
	if grownAll.Load() != before {
		t.Errorf("%d bytes are still counted", grownAll.Load()-before)
	}
}

// sendToAll sends data from rank 0 to all others, who have to get it right.
func sendToAll(t *testing.T, all []*Endpoint, data []byte) {
	t.Helper()
	for i := range data {
		data[i] = byte(i * 11)
	}
	for rank, err := range together(all, func(e *Endpoint) error {
		if e.rank > 0 {
			return receives(t, e, data)
		}
		var sends []wire.Send
		for peer := 1; peer < len(all); peer++ {
			sends = append(sends, wire.Send{Peer: peer, Data: data})
		}
		return e.Exchange(t.Context(), sends, nil)
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// receives receives from rank 0 what has to be data.
func receives(t *testing.T, e *Endpoint, data []byte) error {
	got := make([]byte, len(data))
	err := e.Exchange(t.Context(), nil, []wire.Recv{{Peer: 0, Into: got}})
	if err == nil && string(got) != string(data) {
		return errors.New("other data arrive")
	}
	return err
}

// TestGrowsAtOnce: a system that cannot be asked for memory later has to give all of it at the beginning.
func TestGrowsAtOnce(t *testing.T) {
	defer adviseAs(unix.EINVAL)()
	all, memory := fileGroup(t, 3)
	if got, want := allocated(t, memory), memoryBytes(3); got != want {
		t.Errorf("%d bytes of %d", got, want)
	}
	data := make([]byte, maxSlot+1)
	if got := segmentsOf(t, all[:2], data, false); got != 2 {
		t.Errorf("%d segments", got)
	}
	sendToAll(t, all, data)
}

// leaving has the system say that it has n bytes left, and counts how often it is asked.
func leaving(n int64) (asked *int, undo func()) {
	before := spare.ask
	asked, spare.asked = new(int), time.Time{}
	spare.ask = func() int64 { *asked++; return n }
	return asked, func() { spare.ask, spare.asked = before, time.Time{} }
}

// TestFullSlotsThatAreNot: a rank that says that data lie in full slots of which it has taken none does not have the
// reader killed by a signal, where there is no memory for them, nor by the system, because it takes what it may not.
func TestFullSlotsThatAreNot(t *testing.T) {
	for name, start := range map[string]func() (undo func()){
		"no memory":    func() func() { return adviseAs(unix.EFAULT) },
		"none is left": func() func() { _, undo := leaving(0); return undo },
	} {
		for _, where := range []uint32{inFull, inFullMulticast} {
			all, memory := fileGroup(t, 3)
			all[0].Begin(wire.NewMark(&wire.Call{Seq: 1}))
			lieAt(where)(all[0])
			before, undo := allocated(t, memory), start()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // which it is to fail long before
			err := all[0].Exchange(ctx, nil, []wire.Recv{{Peer: 1, Into: make([]byte, maxSlot+1)}})
			cancel()
			undo()
			if !errors.Is(err, wire.ErrDied) || allocated(t, memory) != before {
				t.Errorf("%s, %d: %v; %d bytes, before %d", name, where, err, allocated(t, memory), before)
			}
		}
	}
}

// TestFullSlotsThatAre can be read where no memory is left any more.
func TestFullSlotsThatAre(t *testing.T) {
	all, _ := fileGroup(t, 3)
	all[0].growFor(maxSlot)
	asked, undo := leaving(0)
	defer undo()
	sendToAll(t, all, make([]byte, maxSlot+1))
	if got := segmentsOf(t, all[:2], make([]byte, maxSlot+1), false); got != 2 || *asked > 0 {
		t.Errorf("%d segments; the system is asked %d times", got, *asked)
	}
}

// TestManyGroups counts what a thousand communicators cost that carry short messages: bytes and descriptors.
func TestManyGroups(t *testing.T) {
	const groups = 1000
	files, bytes := openFilesOf(t), 0
	for range groups {
		memory, err := Create(4)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Attach(0, 4, duplicate(t, memory))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := send(e, 1); err != nil {
			t.Fatal(err)
		}
		bytes += allocated(t, memory)
		_ = unix.Close(memory)
	}
	if most := groups * 248 << 10; bytes > most || openFilesOf(t) > files {
		t.Errorf("%d bytes, want at most %d; %d files, before %d", bytes, most, openFilesOf(t), files)
	}
}
