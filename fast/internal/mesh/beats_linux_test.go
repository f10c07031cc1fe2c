package mesh

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// countOf returns a count, and a copy of its file for another process.
func countOf(t *testing.T) (own *beats, copies []int) {
	t.Helper()
	own, err := newBeats()
	if err == nil {
		t.Cleanup(own.close)
		copies, err = copyFiles([]int{own.file})
	}
	if err != nil {
		t.Fatal(err)
	}
	return own, copies
}

// TestBeats: what one process counts the other one reads, and cannot change; nothing of it is left.
func TestBeats(t *testing.T) {
	own, copies := countOf(t)
	theirs, err := openBeats(copies[0])
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.close()
	if _, err := unix.FcntlInt(uintptr(copies[0]), unix.F_GETFD, 0); err != unix.EBADF {
		t.Errorf("the file is still open: %v", err)
	}
	for range 1000 {
		before := theirs.beaten()
		if own.beat(int64(before)); theirs.late().Load() != int64(before) || theirs.beaten() != before+1 || before == 0 {
			t.Fatalf("%d after %d", theirs.beaten(), before)
		}
	}
	if b, err := unix.Mmap(own.file, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
		t.Error("others can write the count")
		_ = unix.Munmap(b)
	}
}

// TestTally: each process counts in a place of its own, and all read all counts.
func TestTally(t *testing.T) {
	const processes = 100
	own, err := newTally(processes)
	if err != nil {
		t.Fatal(err)
	}
	defer own.close()
	copies, err := copyFiles([]int{own.file})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := openTally(copies[0], processes)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.close()
	for p := range processes {
		if n := own.slot(p).beaten(); n != 0 {
			t.Errorf("process %d has counted %d already", p, n)
		}
		for range p {
			theirs.slot(p).beat(int64(7 * p))
		}
	}
	for p := range processes {
		if b := own.slot(p); b.beaten() != uint64(p) || b.late().Load() != int64(7*p) {
			t.Errorf("process %d: %d heartbeats, late by %d", p, b.beaten(), b.late().Load())
		}
	}
}

// TestFalseBeats: a file that could make a reader of it fail, or that is something else, is refused, and closed.
func TestFalseBeats(t *testing.T) {
	memory := func(bytes, there, seals int) int {
		fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err == nil {
			err = unix.Ftruncate(fd, int64(bytes))
		}
		if err == nil && there > 0 {
			err = unix.Fallocate(fd, 0, 0, int64(there))
		}
		if err == nil {
			_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
		}
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	null, err := copyFiles([]int{int(file.Fd()), int(file.Fd())})
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	for name, x := range map[string]struct{ fd, tally int }{
		"not sealed": {memory(page, page, 0), memory(2*page, 2*page, 0)},
		"may shrink": {memory(page, page, beatsSeals&^unix.F_SEAL_SHRINK),
			memory(2*page, 2*page, tallySeals&^unix.F_SEAL_SHRINK)},
		"wrong writers": {memory(page, page, beatsSeals&^unix.F_SEAL_FUTURE_WRITE), memory(2*page, 2*page, beatsSeals)},
		"empty":         {memory(0, 0, beatsSeals), memory(0, 0, tallySeals)},
		"too short":     {memory(page-1, page-1, beatsSeals), memory(page, page, tallySeals)},
		"too long":      {memory(2*page, 2*page, beatsSeals), memory(3*page, 3*page, tallySeals)},
		"not there":     {memory(page, 0, beatsSeals), memory(2*page, page, tallySeals)},
		"a device":      {null[0], null[1]},
	} {
		b, err := openBeats(x.fd)
		c, bad := openTally(x.tally, page/slotBytes+1)
		if !errors.Is(err, errBeats) || !errors.Is(bad, errBeats) {
			t.Errorf("%s: %v, %v; %v, %v", name, b, err, c, bad)
		}
		for _, fd := range []int{x.fd, x.tally} {
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != unix.EBADF {
				t.Errorf("%s: the file is still open: %v", name, err)
			}
		}
	}
	good := memory(page, page, beatsSeals)
	b, err := openBeats(good)
	if err != nil {
		t.Error(err)
	}
	b.close()
}

// TestCounted: processes of one host read each other's counts, and send no heartbeats. One that cannot read them gets
// some.
func TestCounted(t *testing.T) {
	leavesNothing(t)
	m, o := start(t, "local")
	p := m.peer(1)
	for end := time.Now().Add(time.Minute); p.beats.Load() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the other process sends no count")
		}
	}
	if !p.counted.Load() || int(p.pid.Load()) != o.Process.Pid {
		t.Errorf("it reads this one's: %v; it is process %d, and %d is known", p.counted.Load(), o.Process.Pid, p.pid.Load())
	}
	for start := p.beats.Load().beaten(); p.beats.Load().beaten() < start+3; time.Sleep(time.Millisecond) {
	}
	if err := m.onCount(p, nil); err != nil { // as if the file had been lost
		t.Error(err)
	}
	p.counted.Store(true)
	if more, err := m.handleFrame(p, head{kind: frameBlind}, nil, nil); !more || err != nil || p.counted.Load() {
		t.Errorf("a process that is blind is sent no heartbeats: %v, %v", more, err)
	}
	if more, err := m.handleFrame(p, head{kind: frameBeat}, []byte{1, 2, 3}, nil); more || err == nil {
		t.Error("a heartbeat of 3 bytes is taken")
	}
	_, copies := countOf(t)
	if more, err := m.handleFrame(p, head{kind: frameCount, files: 1}, nil, copies); more || !errors.Is(err, errBeats) {
		t.Errorf("a second count is taken: %v", err)
	}
}

// TestUnsealed: where memory cannot be sealed there is no count, nothing stays open, and heartbeats are sent.
func TestUnsealed(t *testing.T) {
	leavesNothing(t)
	own := seal
	seal = func(int, int) error { return unix.EINVAL }
	defer func() { seal = own }()
	before := descriptors(t)
	if b, err := newBeats(); b != nil || !errors.Is(err, unix.EINVAL) {
		t.Errorf("%v, %v", b, err)
	}
	if b, err := newTally(3); b != nil || !errors.Is(err, unix.EINVAL) {
		t.Errorf("%v, %v", b, err)
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors, before %d", after, before)
	}
	job := newJob(t, 2, nil)
	for _, m := range job {
		if p := m.peer(1 - m.Self()); m.beats != nil || p.counted.Load() {
			t.Errorf("process %d counts", m.Self())
		}
	}
}

func descriptors(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestOneCount: a count comes in one file, and no other kind of frame but a message has any.
func TestOneCount(t *testing.T) {
	for kind := frameBeat; kind <= frameBlind; kind++ {
		for files := range uint8(3) {
			var b [headBytes]byte
			b[4], b[5] = kind, files
			_, err := decodeHead(&b)
			if want := files == 0 || kind == frameNote || kind == frameCount && files == 1; (err == nil) != want {
				t.Errorf("kind %d with %d files: %v", kind, files, err)
			}
		}
	}
}
