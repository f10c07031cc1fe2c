package mesh

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestExamine: what the system says of processes in each condition. The test waits for each of them, however slow they
// are.
func TestExamine(t *testing.T) {
	process := func(name string, args ...string) *os.Process {
		cmd := exec.Command(name, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return cmd.Process
	}
	sleeper, worker, late := process("sleep", "1000"), process("sh", "-c", "while :; do :; done"), process("sleep", "1000")
	reach := func(p *os.Process, want condition) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; {
			got := observe([]int{p.Pid})[0]
			if got == want || want == running && got == starving { // what else runs here is not known
				return
			}
			if time.Now().After(end) {
				t.Fatalf("it is %q, want %q", got, want)
			}
		}
	}
	signal := func(p *os.Process, s syscall.Signal) {
		if err := p.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	reach(sleeper, asleep)
	reach(worker, running)
	signal(worker, syscall.SIGSTOP)
	reach(worker, stopped)
	signal(worker, syscall.SIGCONT)
	reach(worker, running)
	reach(waiter(t), inKernel)
	signal(late, syscall.SIGKILL) // nobody has waited for it
	reach(late, gone)
	_, _ = late.Wait()
	reach(late, gone)
	// A mesh of this process is examined by others of it: at least the thread that asks runs.
	if e, known := examine(os.Getpid()); !known || !e.wants || e.stopped || e.gone {
		t.Errorf("of this process the system says %+v, %v", e, known)
	}
	for _, pid := range []int{0, -1} {
		if e, known := examine(pid); known {
			t.Errorf("of process %d the system says %+v", pid, e)
		}
	}
}

// waiter returns a process that waits in the kernel: for its child, which vfork(2) has it do until the child ends.
func waiter(t *testing.T) *os.Process {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "MESH_TEST_WAITER=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	return cmd.Process
}

// waitInKernel is what a waiter does.
func waitInKernel() {
	child, _, _ := syscall.RawSyscall6(syscall.SYS_CLONE, syscall.CLONE_VFORK|uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	for child == 0 { // the child, of which nothing of Go's runtime is left but this thread
		_, _, _ = syscall.RawSyscall6(syscall.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
	}
}

// TestSample: which condition follows from two samples.
func TestSample(t *testing.T) {
	const ms = time.Millisecond
	for name, x := range map[string]struct {
		before, now evidence
		want        condition
	}{
		"nothing":        {evidence{used: ms, faults: 3}, evidence{used: ms, faults: 3}, asleep},
		"runs":           {evidence{}, evidence{wants: true, used: 90 * ms}, running},
		"runs at times":  {evidence{}, evidence{used: 10 * ms}, running},
		"is let run":     {evidence{used: 5 * ms}, evidence{wants: true, used: 15 * ms}, starving},
		"is not let run": {evidence{}, evidence{wants: true}, starving},
		"reads pages":    {evidence{faults: 3}, evidence{faults: 4}, swapping},
		"in the kernel":  {evidence{}, evidence{kept: true}, inKernel},
		"runs, kept":     {evidence{}, evidence{kept: true, wants: true}, starving},
		"reads, kept":    {evidence{}, evidence{kept: true, faults: 1}, swapping},
		"stopped":        {evidence{}, evidence{stopped: true, used: 90 * ms}, stopped},
		"gone":           {evidence{used: 90 * ms}, evidence{gone: true}, gone},
	} {
		if got := (sample{x.now, int64(100 * ms)}).condition(sample{x.before, 1}); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// TestAtRest: a process that uses a twentieth of the time runs, and one that uses less sleeps, unless it wants more.
func TestAtRest(t *testing.T) {
	const ms = time.Millisecond
	for name, x := range map[string]struct {
		wanted bool // to run at the beginning
		now    evidence
		want   condition
	}{
		"heartbeats":           {false, evidence{used: 4 * ms}, asleep},
		"woken at the end":     {false, evidence{used: 4 * ms, wants: true}, asleep},
		"woken before the end": {false, evidence{used: 5 * ms, wants: true}, starving},
		"runs":                 {false, evidence{used: 5 * ms}, running},
		"runs all the time":    {false, evidence{used: 100 * ms}, running},
		"is not let run":       {true, evidence{wants: true}, starving},
		"is let run a bit":     {true, evidence{used: 4 * ms, wants: true}, starving},
		"is let run by half":   {true, evidence{used: 50 * ms, wants: true}, running},
		"stopped":              {true, evidence{used: 4 * ms, stopped: true}, stopped},
		"gone":                 {true, evidence{gone: true}, gone},
	} {
		before := sample{evidence{wants: x.wanted}, 1}
		if got := (sample{x.now, int64(1 + 100*ms)}).conditionAtRest(before); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// FuzzStatus: no text of /proc makes trouble, and what is read from one is what is written there.
func FuzzStatus(f *testing.F) {
	whole := "1 (a) b (c) R 0 1 1 0 -1 4194560 11 22 33 44 55 66 77 88 20 0 9"
	for n := range len(whole) + 1 {
		f.Add([]byte(whole[:n]))
	}
	f.Add([]byte(strings.Replace(whole, "33", "18446744073709551615", 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := parseStatus(text)
		if err == nil && (e.used < 0 || e.gone && e.stopped || e.stopped && e.wants) {
			t.Errorf("%q: %+v", text, e)
		}
	})
	if e, err := parseStatus([]byte(whole)); err != nil || e != (evidence{wants: true, used: 121 * tick, faults: 33}) {
		f.Errorf("%+v, %v", e, err)
	}
	for _, x := range []struct {
		state   string
		threads int
		want    evidence
	}{{"T", 1, evidence{stopped: true}}, {"t", 1, evidence{stopped: true}}, {"Z", 1, evidence{gone: true}},
		{"X", 0, evidence{gone: true}}, {"S", 1, evidence{}}, {"D", 1, evidence{kept: true}},
		{"Z", 2, evidence{}}} { // the first thread has ended, and another one goes on
		e, err := parseStatus([]byte(fmt.Sprintf("1 (x) %s 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 %d", x.state, x.threads)))
		if err != nil || e != x.want {
			f.Errorf("%s, %d threads: %+v, %v, want %+v", x.state, x.threads, e, err, x.want)
		}
	}
}

// TestOfThisProcess: meshes of one process know that they are, whoever has connected them, so that the system tells of
// a silent one that its process runs.
func TestOfThisProcess(t *testing.T) {
	job := newJob(t, 3, nil)
	for _, m := range job {
		for process := range job {
			if p := m.peer(process); p != nil {
				eventually(t, func() bool { return p.pid.Load() == int64(os.Getpid()) })
			}
		}
	}
}

// TestLateReader: a peer of which something has arrived that this process has not come to read is not given up, be it
// of another host. It is, in time, once all was read and nothing more comes.
func TestLateReader(t *testing.T) {
	p, other := endsOf(t)
	if _, err := other.Write([]byte("alive")); err != nil {
		t.Fatal(err)
	}
	if given, _, _ := watching(t, p, nil, nil); given != 0 {
		t.Errorf("given up at turn %d, with what it has sent unread", given)
	}
	if _, err := io.ReadFull(p.files, make([]byte, len("alive"))); err != nil {
		t.Fatal(err)
	}
	p.heard.Store(0)
	if given, c, _ := watching(t, p, nil, nil); given <= turns || given > turns+2 || c != unknown {
		t.Errorf("given up at turn %d, %q, want %d", given, c, turns+1)
	}
}

// TestLateWriter: a peer that is written to is not given up while the system takes more for it: then it is this process
// that does not go on. It is, in time, once the system takes nothing any more.
func TestLateWriter(t *testing.T) {
	p, _ := endsOf(t)
	hears := func(_ *detector, turn int64) { p.heard.Store(turn * 2 * second / turns) }
	p.writing.Store(1)
	if given, _, _ := watching(t, p, nil, hears); given != 0 {
		t.Errorf("given up at turn %d, although the system takes more", given)
	}
	fill(t, p.files)
	p.writing.Store(1)
	if given, c, _ := watching(t, p, nil, hears); given <= turns || given > turns+2 || c != unknown {
		t.Errorf("given up at turn %d, %q, want %d", given, c, turns+1)
	}
}

// endsOf returns a peer whose process has no number here, and its end of the connection.
func endsOf(t *testing.T) (p *peer, other *fdConn) {
	t.Helper()
	pair, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*fdConn
	for i, file := range pair {
		if ends[i], err = newSocketEnd(file); err != nil {
			t.Fatal(err)
		}
		ends[i].open()
		t.Cleanup(func() { _ = ends[i].Close() })
	}
	ends[1].blind = false
	return &peer{files: ends[0]}, ends[1]
}

// fill writes to c until the system takes no more.
func fill(t *testing.T, c *fdConn) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		for err == nil {
			_, err = unix.Write(int(fd), make([]byte, 4096))
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err != unix.EAGAIN {
		t.Fatal(err)
	}
}
