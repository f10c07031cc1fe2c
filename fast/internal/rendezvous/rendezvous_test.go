//go:build linux

package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestMain is rank 0, in a process that is killed, or the test.
func TestMain(m *testing.M) {
	dir := os.Getenv("COLLGEN_RENDEZVOUS_DIR")
	if dir == "" {
		os.Exit(m.Run())
	}
	_, err := Join(context.Background(), Job{Rank: 0, Size: 3, Name: "job", Dir: dir})
	fmt.Println(err)
}

// jobs are those of all ranks of a job that meets in a directory of its own.
func jobs(t testing.TB, size int) []Job {
	all := make([]Job, size)
	dir := filepath.Join(t.TempDir(), "here")
	for rank := range all {
		all[rank] = Job{Rank: rank, Size: size, Name: "job", Dir: dir}
	}
	return all
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// together runs f for all jobs at once.
func together(all []Job, f func(job Job) error) []error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, job := range all {
		wg.Go(func() { errs[i] = f(job) })
	}
	wg.Wait()
	return errs
}

// meet goes through a whole meeting. Rank 0 gives each rank n copies of an end of a pipe that carries its number.
func meet(ctx context.Context, job Job, n int) error {
	m, err := Join(ctx, job)
	if err != nil {
		return err
	}
	defer m.Close()
	if job.Rank == 0 {
		for rank := 1; rank < job.Size; rank++ {
			if err := giveNumber(m, rank, n); err != nil {
				return err
			}
		}
		return m.Ready(ctx)
	}
	fds, err := m.Take(ctx)
	if err != nil {
		return err
	}
	defer closeAll(fds)
	b := make([]byte, 1)
	if _, err := unix.Read(fds[n-1], b); err != nil || len(fds) != n || int(b[0]) != job.Rank {
		return fmt.Errorf("rank %d has %d files, number %d, %v", job.Rank, len(fds), b[0], err)
	}
	if flags, err := unix.FcntlInt(uintptr(fds[0]), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		return fmt.Errorf("children inherit the file: %#x, %v", flags, err)
	}
	return m.Ready(ctx)
}

func giveNumber(m *Meeting, rank, n int) error {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	defer closeAll(p[:])
	if _, err := unix.Write(p[1], []byte{byte(rank)}); err != nil {
		return err
	}
	fds := make([]int, n)
	for i := range fds {
		fds[i] = p[0]
	}
	return m.Give(rank, fds)
}

func wantGone(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		files, _ := os.ReadDir(dir)
		t.Errorf("%s is still there, with %v, %v", dir, files, err)
	}
}

func TestMeeting(t *testing.T) {
	for _, c := range []struct{ size, files int }{{2, 1}, {3, 5}, {5, 2*filesPerNote + 1}, {30, 31}} {
		all := jobs(t, c.size)
		for rank, err := range together(all, func(job Job) error { return meet(within(t, 20*time.Second), job, c.files) }) {
			if err != nil {
				t.Errorf("%d ranks, rank %d: %v", c.size, rank, err)
			}
		}
		wantGone(t, all[0].Dir)
	}
}

// TestSharedDirectory: several jobs at once meet where they are given no directory, and nothing stays.
func TestSharedDirectory(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", t.TempDir())
	var all []Job
	for i := range 12 {
		all = append(all, Job{Rank: i % 3, Size: 3, Name: fmt.Sprint("127.0.0.1:", i/3)})
	}
	for i, err := range together(all, func(job Job) error { return meet(within(t, 20*time.Second), job, 1) }) {
		if err != nil {
			t.Errorf("%+v: %v", all[i], err)
		}
	}
	dir, _ := sharedDir()
	wantGone(t, dir)
}

// TestSystemsDirectory is the user's own that the system provides: it stays.
func TestSystemsDirectory(t *testing.T) {
	x := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", x)
	if dir, _ := sharedDir(); dir == x {
		t.Error("a directory that others may enter is taken")
	}
	if err := os.Chmod(x, 0o700); err != nil {
		t.Fatal(err)
	}
	if dir, ours := sharedDir(); dir != x || ours {
		t.Error(dir, ours)
	}
	all := jobs(t, 2)
	for i := range all {
		all[i].Dir = ""
	}
	if err := errors.Join(together(all, func(job Job) error { return meet(within(t, 20*time.Second), job, 1) })...); err != nil {
		t.Error(err)
	}
	if files, err := os.ReadDir(x); err != nil || len(files) != 0 {
		t.Error(files, err)
	}
}

// TestStrangers: others connect in all ways all the time.
func TestStrangers(t *testing.T) {
	all := jobs(t, 3)
	first := make(chan error)
	go func() { first <- meet(within(t, 20*time.Second), all[0], 4) }()
	var opened []net.Conn
	for i := range 60 {
		d := dir(t, &all[0])
		c, err := d.dial()
		if err != nil {
			t.Fatal(err)
		}
		opened = append(opened, c)
		switch i % 6 {
		case 0: // silent
		case 1:
			_ = c.Close()
		case 2:
			_, _ = c.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
		case 3:
			_, _ = c.Write(make([]byte, helloBytes))
		case 4:
			_, _ = c.Write(append([]byte(magic), make([]byte, 1000)...))
		case 5:
			b := hello{1, 3, all[0].hash()}.encode()
			_, _ = c.Write(b[:len(b)-1])
		}
		if _, err := net.Dial("unix", d.address().Name); err == nil {
			t.Error("a stream is accepted")
		}
		d.close()
	}
	for rank, err := range together(all[1:], func(job Job) error { return meet(within(t, 20*time.Second), job, 4) }) {
		if err != nil {
			t.Errorf("rank %d: %v", rank+1, err)
		}
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
	for _, c := range opened {
		_ = c.Close()
	}
	wantGone(t, all[0].Dir)
}

// dir is the job's directory as soon as rank 0 listens in it.
func dir(t testing.TB, job *Job) *directory {
	t.Helper()
	for range 1000 {
		if d, err := openDirectory(job, false); err == nil {
			if c, err := d.dial(); err == nil {
				_ = c.Close()
				return d
			}
			d.close()
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("rank 0 does not listen")
	return nil
}

// TestMissing: rank 0 names the ranks that do not come, and tells those that have.
func TestMissing(t *testing.T) {
	all := jobs(t, 4)
	some := []Job{all[0], all[2]}
	errs := together(some, func(job Job) error {
		limit := 300 * time.Millisecond
		if job.Rank > 0 {
			limit = 10 * time.Second
		}
		return meet(within(t, limit), job, 1)
	})
	var timeout *wire.TimeoutError
	if !errors.As(errs[0], &timeout) || fmt.Sprint(timeout.Waiting) != "[1 3]" || !errors.Is(errs[0], context.DeadlineExceeded) {
		t.Error(errs[0])
	}
	if errs[1] == nil || errs[1].Error() != "rank 0: "+errs[0].Error() {
		t.Error(errs[1])
	}
	wantGone(t, all[0].Dir)
}

// TestNoRank0: the others name it.
func TestNoRank0(t *testing.T) {
	job := jobs(t, 2)[1]
	_, err := Join(within(t, 100*time.Millisecond), job)
	var timeout *wire.TimeoutError
	if !errors.As(err, &timeout) || fmt.Sprint(timeout.Waiting) != "[0]" || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestRefused: both sides say why.
func TestRefused(t *testing.T) {
	all := jobs(t, 3)
	otherSize, twice, otherJob := all[2], all[1], all[2]
	otherSize.Size, otherJob.Name = 4, "another"
	result := make(chan error)
	go func() {
		_, err := Join(within(t, time.Second), all[0])
		result <- err
	}()
	first, err := Join(within(t, 10*time.Second), all[1])
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	for want, job := range map[string]Job{
		"there are 4 ranks, and rank 0 knows of 3":               otherSize,
		fmt.Sprintf("process %d is rank 1 already", os.Getpid()): twice,
	} {
		if _, err := Join(within(t, 10*time.Second), job); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c, err := dir(t, &all[0]).dial() // at the address of another job than it says
	if err != nil {
		t.Fatal(err)
	}
	m := &Meeting{job: otherJob, leader: c}
	if err := m.greet(within(t, 10*time.Second)); err == nil || !strings.Contains(err.Error(), "another job") {
		t.Error(err)
	}
	m.Close()
	err = <-result
	var timeout *wire.TimeoutError
	if !errors.As(err, &timeout) || fmt.Sprint(timeout.Waiting) != "[2]" || !strings.Contains(err.Error(), "rank 1 already") ||
		!strings.Contains(err.Error(), "there are 4 ranks") || !strings.Contains(err.Error(), "another job") {
		t.Error(err)
	}
}

// TestFailure: what keeps one rank from going on is told to all.
func TestFailure(t *testing.T) {
	for _, failing := range []int{0, 2} {
		all := jobs(t, 4)
		ctx := within(t, 20*time.Second)
		errs := together(all, func(job Job) error {
			m, err := Join(ctx, job)
			if err != nil {
				return err
			}
			defer m.Close()
			switch {
			case job.Rank == failing:
				err = errors.New("no memory\x1b[2J")
			case job.Rank == 0:
				err = m.Ready(ctx)
			default:
				_, err = m.Take(ctx)
			}
			m.Fail(err)
			return err
		})
		for rank, err := range errs {
			if rank != failing && (err == nil || err.Error() != fmt.Sprintf("rank %d: no memory?[2J", failing)) {
				t.Errorf("rank %d fails, and rank %d has %v", failing, rank, err)
			}
		}
	}
}

// TestMemberDies before all have come, and when it should be ready.
func TestMemberDies(t *testing.T) {
	for _, early := range []bool{true, false} {
		all := jobs(t, 4)
		if early {
			all = all[:3]
		}
		ctx := within(t, 20*time.Second)
		errs := together(all, func(job Job) error {
			m, err := Join(ctx, job)
			if err != nil {
				return err
			}
			switch {
			case job.Rank == 2 && !early: // all have come when it has its files
				var fds []int
				fds, err = m.Take(ctx)
				closeAll(fds)
			case job.Rank == 2:
			case job.Rank == 0:
				err = errors.Join(giveNumber(m, 2, 1), m.Ready(ctx))
				m.Fail(err)
			default:
				_, err = m.Take(ctx)
			}
			m.Close()
			return err
		})
		for rank, err := range errs {
			var pe *wire.PeerError
			if rank != 2 && (!errors.As(err, &pe) || pe.Rank != 2 || !errors.Is(err, wire.ErrDied)) {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
		wantGone(t, all[0].Dir)
	}
}

// TestRank0Dies by SIGKILL: the others know, and remove what it has left behind.
func TestRank0Dies(t *testing.T) {
	all := jobs(t, 3)
	if err := os.Mkdir(all[0].Dir, 0o700); err != nil { // as a launcher does
		t.Fatal(err)
	}
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), "COLLGEN_RENDEZVOUS_DIR="+all[0].Dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ctx := within(t, 20*time.Second)
	m, err := Join(ctx, all[1])
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	_, err = m.Take(ctx)
	var pe *wire.PeerError
	if !errors.As(err, &pe) || pe.Rank != 0 || !errors.Is(err, wire.ErrDied) {
		t.Error(err)
	}
	if files, err := os.ReadDir(all[0].Dir); err != nil || len(files) != 0 {
		t.Errorf("%v stays, %v", files, err)
	}
}

// TestStaleSocket is what a killed job leaves behind when nobody else was there.
func TestStaleSocket(t *testing.T) {
	all := jobs(t, 2)
	d, l, err := openAndListen(t.Context(), &all[0])
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if _, _, err := openAndListen(t.Context(), &all[0]); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprintf("process %d is rank 0 of the same job", os.Getpid())) {
		t.Errorf("a second rank 0: %v", err)
	}
	_ = l.Close()
	if err := unix.Faccessat(d.fd, d.socket, unix.F_OK, 0); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(together(all, func(job Job) error { return meet(within(t, 20*time.Second), job, 1) })...); err != nil {
		t.Error(err)
	}
}

func TestDirectoryIsChecked(t *testing.T) {
	top := t.TempDir()
	path := func(name string) string { return filepath.Join(top, name) }
	for _, err := range []error{
		os.Mkdir(path("open"), 0o755), os.Chmod(path("open"), 0o755),
		os.Mkdir(path("private"), 0o700), os.Symlink("private", path("link")),
		os.WriteFile(path("file"), nil, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"open": "is open to other users", "link": "not a directory", "file": "not a directory", "no/where": "no such file"}
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Mkdir(path("other"), 0o700), os.Chown(path("other"), 65534, 65534)); err != nil {
			t.Fatal(err)
		}
		want["other"] = "belongs to user 65534"
	} else {
		t.Log("a directory of another user is not tried: only root can make one")
	}
	for name, text := range want {
		for rank := range 2 {
			if rank == 1 && name == "no/where" {
				continue // it waits for it
			}
			_, err := Join(within(t, 10*time.Second), Job{Rank: rank, Size: 2, Name: "job", Dir: path(name)})
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("rank %d in %s: %v", rank, name, err)
			}
		}
	}
}

// TestLaunchersDirectory is not made again when the launcher has removed it.
func TestLaunchersDirectory(t *testing.T) {
	all := jobs(t, 2)
	t.Setenv("COLL_DIR", all[0].Dir)
	if _, err := Join(within(t, 5*time.Second), all[0]); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	wantGone(t, all[0].Dir)
}

// TestOtherUsers: a connection of another user gets no answer, whatever it says.
func TestOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	top := t.TempDir()
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Net: "unixpacket", Name: filepath.Join(top, "s")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, uid := range []int{0, 65534} {
		if err := connectAs(uid, filepath.Join(top, "s"), hello{1, 2, [32]byte{}}.encode()); err != nil {
			t.Fatal(err)
		}
		c, err := l.AcceptUnix()
		if err != nil {
			t.Fatal(err)
		}
		arrivals := make(chan arrival, 1)
		shake(t.Context(), c, arrivals)
		if len(arrivals) == 1 != (uid == 0) {
			t.Errorf("user %d: %d arrivals", uid, len(arrivals))
		}
		_ = c.Close()
	}
}

// connectAs connects and writes as another user, on a thread that ends with it.
func connectAs(uid int, path string, b []byte) error {
	if err := errors.Join(os.Chmod(path, 0o777), os.Chmod(filepath.Dir(path), 0o755), os.Chmod(filepath.Dir(filepath.Dir(path)), 0o755)); err != nil {
		return err
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			result <- err
			return
		}
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); e != 0 {
			result <- e
			return
		}
		if err = unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err == nil {
			_, err = unix.Write(fd, b)
		}
		result <- err
	}()
	return <-result
}

// TestNothingStays counts goroutines and files after meetings that end in several ways.
func TestNothingStays(t *testing.T) {
	files := func() int { f, _ := os.ReadDir("/proc/self/fd"); return len(f) }
	if err := errors.Join(together(jobs(t, 3), func(job Job) error { return meet(within(t, 20*time.Second), job, 3) })...); err != nil {
		t.Fatal(err)
	}
	goroutines, before := runtime.NumGoroutine(), files()
	for range 5 {
		all := jobs(t, 3)
		_ = together(all, func(job Job) error { return meet(within(t, 20*time.Second), job, 3) })
		_ = together(all[:2], func(job Job) error { return meet(within(t, 50*time.Millisecond), job, 3) })
	}
	for wait := time.Now(); runtime.NumGoroutine() > goroutines && time.Since(wait) < 5*time.Second; {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines, before %d\n%s", n, goroutines, stacks[:runtime.Stack(stacks, true)])
	}
	if n := files(); n != before {
		t.Errorf("%d files, before %d", n, before)
	}
}
