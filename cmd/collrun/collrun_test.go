//go:build unix && !aix && !solaris

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// asCollrun, in the environment, makes the test binary be collrun.
const asCollrun = "COLLRUN_TEST_IS_COLLRUN"

func TestMain(m *testing.M) {
	if os.Getenv(asCollrun) != "" {
		main()
	}
	os.Exit(m.Run())
}

// deadline bounds whatever a test waits for.
const deadline = 20 * time.Second

// launch is a collrun that was started.
type launch struct {
	t   *testing.T
	cmd *exec.Cmd
	tmp string // where its directory is
}

// command prepares collrun with args. What it leaves in its temporary directory fails the test.
func command(t *testing.T, args ...string) *launch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	l := &launch{t: t, cmd: exec.CommandContext(ctx, os.Args[0], args...), tmp: t.TempDir()}
	// The race detector lets every process sleep a second before it exits, unless told otherwise.
	l.cmd.Env = append(os.Environ(), asCollrun+"=1", "TMPDIR="+l.tmp, "GORACE=atexit_sleep_ms=0")
	l.cmd.WaitDelay = deadline
	return l
}

// result is what a collrun that has ended left.
type result struct {
	status      int
	out, report string
}

// run runs it to its end. It fails the test unless everybody who had its output has ended as well.
func (l *launch) run() result {
	l.t.Helper()
	var out, report bytes.Buffer
	l.cmd.Stdout, l.cmd.Stderr = &out, &report
	err := l.cmd.Run() // returns at the end of both streams
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.t.Fatalf("collrun: %v\n%s", err, report.String())
	}
	l.leavesNothing()
	return result{l.cmd.ProcessState.ExitCode(), out.String(), report.String()}
}

func (l *launch) leavesNothing() {
	l.t.Helper()
	for end := time.Now().Add(deadline); ; time.Sleep(5 * time.Millisecond) {
		left, err := os.ReadDir(l.tmp)
		if err != nil {
			l.t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			l.t.Fatalf("collrun left %v", left)
		}
	}
}

// start starts it with -raw semantics: the stream it returns ends when everybody who writes to it has ended.
func (l *launch) start() (out *os.File) {
	l.t.Helper()
	in, theirs, err := os.Pipe()
	if err != nil {
		l.t.Fatal(err)
	}
	l.cmd.Stdout = theirs
	if err := l.cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	theirs.Close()
	l.t.Cleanup(func() { in.Close() })
	if err := in.SetReadDeadline(time.Now().Add(deadline)); err != nil {
		l.t.Fatal(err)
	}
	return in
}

// waitStopped waits until collrun has stopped, which only the next SIGCONT ends.
func (l *launch) waitStopped() {
	l.t.Helper()
	var state syscall.WaitStatus
	for end := time.Now().Add(deadline); !state.Stopped(); time.Sleep(time.Millisecond) {
		_, err := syscall.Wait4(l.cmd.Process.Pid, &state, syscall.WNOHANG|syscall.WUNTRACED, nil)
		if time.Now().After(end) || err != nil && !errors.Is(err, syscall.EINTR) {
			l.t.Fatalf("collrun does not stop: %#x, %v", state, err)
		}
	}
}

// readLines reads n lines.
func readLines(t *testing.T, r io.Reader, n int) {
	t.Helper()
	for b := make([]byte, 1); n > 0; {
		if _, err := r.Read(b); err != nil {
			t.Fatalf("%d lines are missing: %v", n, err)
		}
		if b[0] == '\n' {
			n--
		}
	}
}

func sorted(s string) []string { return slices.Sorted(strings.Lines(s)) }

func TestRanksFindTheirPlaceInTheEnvironment(t *testing.T) {
	got := command(t, "-n", "3", "-e", "X=a=b", "sh", "-c",
		`echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $MASTER_ADDR $X; echo port $MASTER_PORT
		echo $COLL_RANK $COLL_LOCAL_RANK $COLL_SIZE $COLL_LOCAL_SIZE; echo at $COLL_STORE, $COLL_JOB
		ls -ld ${COLL_SECRET_FILE%/*} $COLL_SECRET_FILE | cut -c1-10; grep -cE '^[0-9a-f]{64}$' $COLL_SECRET_FILE; cat`).run()
	if got.status != 0 || got.report != "" {
		t.Fatalf("status %d, %s", got.status, got.report)
	}
	port := regexp.MustCompile(`port \d{5}`).FindString(got.out)
	at := regexp.MustCompile(`at (local|tcp://127.0.0.1:\d{5}), collrun-[A-Z2-7]{26}`).FindString(got.out)
	var want []string
	for _, r := range []string{"0", "1", "2"} {
		for _, line := range []string{r + " " + r + " 3 3 127.0.0.1 a=b", port, r + " " + r + " 3 3", at,
			"drwx------", "-rw-------", "1"} {
			want = append(want, "["+r+"] "+line+"\n")
		}
	}
	slices.Sort(want)
	if d := cmp.Diff(want, sorted(got.out)); d != "" {
		t.Error(d)
	}
}

func TestStdinIsRank0s(t *testing.T) {
	for _, test := range []struct {
		flags []string
		want  string
	}{{nil, ""}, {[]string{"-stdin"}, "[0] one\n[0] two\n"}} {
		l := command(t, append(test.flags, "-n", "3", "cat")...)
		l.cmd.Stdin = strings.NewReader("one\ntwo")
		if got := l.run(); got.status != 0 || got.out != test.want {
			t.Errorf("%v: status %d, output %q", test.flags, got.status, got.out)
		}
	}
}

// TestStatusAndReport has ranks that fail in all ways, while others would go on for ever.
func TestStatusAndReport(t *testing.T) {
	const others = `sleep 1000 & wait`
	for _, test := range []struct {
		name, flags, script string
		status              int
		report              []string // parts of it
	}{
		{"success", "", `exit 0`, 0, nil},
		{"exit status", "", `[ $RANK = 2 ] && { echo the reason >&2; exit 7; };` + others, 7,
			[]string{"rank 2 failed first: exit status 7\n", "stderr:\n[2] the reason\n"}},
		{"signal", "", `[ $RANK = 1 ] && kill -9 $$;` + others, 128 + 9, []string{"rank 1 failed first: signal 9: killed\n"}},
		{"the cause, then who misses it", "",
			`case $RANK in 1) echo $$ >DIR/new; mv DIR/new DIR/pid;; ` +
				`0) until [ -e DIR/pid ]; do sleep .01; done; kill -9 $(cat DIR/pid); exit 1;; esac;` + others, 128 + 9,
			[]string{"rank 1 failed first: signal 9: killed\n", "then failed: rank 0 (exit status 1)\n"}},
		{"last lines only", "", `[ $RANK = 0 ] && { seq 1 500 >&2; exit 1; };` + others, 1,
			[]string{"stderr:\n[0] 481\n", "[0] 500\n"}},
		{"a crash", "", `[ $RANK = 0 ] && { { echo panic: broken; seq 1 500; } >&2; exit 2; };` + others, 2,
			[]string{"stderr:\n[0] panic: broken\n[0] 481\n", "[0] 500\n"}},
		{"a crash in few lines", "", `[ $RANK = 0 ] && { { echo fatal error: broken; seq 482 500; } >&2; exit 2; };` + others, 2,
			[]string{"stderr:\n[0] fatal error: broken\n[0] 482\n", "[0] 500\n"}},
		{"raw", "-raw", `[ $RANK = 0 ] && { echo not kept >&2; exit 4; };` + others, 4,
			[]string{"not kept\n", "rank 0 failed first: exit status 4\n"}},
		{"deaf to SIGTERM", "-grace=50ms", `trap '' TERM; [ $RANK = 0 ] && exit 5;` + others, 5,
			[]string{"rank 0 failed first: exit status 5\n"}},
		{"stopped", "", `[ $RANK = 0 ] && exit 5; kill -STOP $$`, 5, []string{"rank 0 failed first: exit status 5\n"}},
		{"a failure, then the timeout", "-timeout=1s -grace=1500ms", `trap '' TERM; [ $RANK = 0 ] && exit 7;` + others, 7,
			[]string{"rank 0 failed first: exit status 7\n"}},
		{"timeout", "-timeout=50ms", others, 124, []string{"collrun: not done after 50ms\n"}},
		{"survivors", "-survive", `[ $RANK = 1 ] && { echo the reason >&2; exit 7; }; sleep .5; exit 0`, 0,
			[]string{"rank 1 failed first: exit status 7\n", "[1] the reason\n", "2 of 3 ranks survived and ended with 0\n"}},
		{"one survivor of signals", "-survive", `[ $RANK = 2 ] || kill -9 $$; sleep .5`, 0,
			[]string{"1 of 3 ranks survived"}},
		{"nobody survives", "-survive", `[ $RANK = 1 ] && exit 7; sleep .5; exit 3`, 7,
			[]string{"rank 1 failed first: exit status 7\n", "collrun: then failed: rank "}},
		{"survivors that take too long", "-survive -timeout=500ms", `[ $RANK = 1 ] && exit 7;` + others, 124,
			[]string{"not done after 500ms\n"}},
		{"leaves its children", "", `sleep 1000 & exit 0`, 0, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"-grace=1m"}, strings.Fields(test.flags)...)
			args = append(args, "-n", "3", "sh", "-c", strings.ReplaceAll(test.script, "DIR", t.TempDir()))
			got := command(t, args...).run() // before its deadline: long before the grace has passed
			if got.status != test.status {
				t.Errorf("status %d, want %d", got.status, test.status)
			}
			for _, part := range test.report {
				if !strings.Contains(got.report, part) {
					t.Errorf("report without %q:\n%s", part, got.report)
				}
			}
			if test.report == nil && got.report != "" {
				t.Errorf("report:\n%s", got.report)
			}
		})
	}
}

func TestTimeoutAfterAFailure(t *testing.T) {
	j := &job{options: new(options), keeper: &keeper{leader: 1 << 30}} // nobody
	j.settled = time.After(settling)
	if j.timedOut(); j.failure != "" || j.settled == nil {
		t.Errorf("the cause is %q", j.failure)
	}
}

// TestGrace: ranks that are told to end have the grace, and no less.
func TestGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &job{options: &options{grace: time.Hour}, keeper: &keeper{leader: 1 << 30}} // nobody
		told := time.Now()
		j.end()
		if <-j.late; time.Since(told) != j.grace {
			t.Errorf("they have %v", time.Since(told))
		}
	})
}

// TestNotCleanedUp: a job whose directory cannot be removed has failed, with the rank's status if it has one.
func TestNotCleanedUp(t *testing.T) {
	seven := &rank{ended: true, state: syscall.WaitStatus(7 << 8)}
	full := errors.New("it cannot be removed")
	for _, test := range []struct {
		failures []*rank
		cleanup  error
		status   int
	}{{nil, nil, 0}, {nil, full, statusFailed}, {[]*rank{seven}, nil, 7}, {[]*rank{seven}, full, 7}} {
		var says bytes.Buffer
		j := &job{options: new(options), output: new(output), streams: streams{err: &says}, failures: test.failures}
		if got := j.report(test.cleanup); got != test.status ||
			strings.Contains(says.String(), full.Error()) != (test.cleanup != nil) {
			t.Errorf("%d ranks failed, cleanup %v: status %d, want %d: %s", len(test.failures), test.cleanup, got, test.status,
				&says)
		}
	}
}

func TestRanksInASessionOfTheirOwnEndToo(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("needs setsid(1):", err)
	}
	got := command(t, "-raw", "-n", "2", "setsid", "sh", "-c",
		`[ $RANK = 0 ] && { sleep .1; exit 3; }; sleep 1000 & wait`).run()
	if got.status != 3 {
		t.Errorf("status %d: %s", got.status, got.report)
	}
}

func TestProgramThatCannotBeStarted(t *testing.T) {
	plain := t.TempDir() + "/plain"
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		program string
		status  int
	}{{"/no/such/program", 127}, {"no-such-program", 127}, {plain, 126}} {
		got := command(t, "-n", "2", test.program).run()
		if got.status != test.status || !strings.Contains(got.report, "rank 0 cannot be started") {
			t.Errorf("%s: status %d, %s", test.program, got.status, got.report)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"-n", "0", "true"}, 2, "want 1 to 65536 ranks"},
		{[]string{"-n", "100000", "true"}, 2, "want 1 to 65536 ranks"},
		{[]string{"-n", "2"}, 2, "no program"},
		{[]string{"-bogus"}, 2, "-bogus"},
		{[]string{"-e", "novalue", "true"}, 2, "NAME=VALUE"},
		{[]string{"-timeout", "-1s", "true"}, 2, "negative"},
		{[]string{"-h"}, 0, "MASTER_ADDR"},
		{[]string{"-h"}, 0, "-survive"},
		{[]string{"run", "-h"}, 0, "MASTER_ADDR"},
		{[]string{"-n", "2", "--", "true", "-h"}, 0, ""},
		{[]string{"run", "-n", "2", "true"}, 0, ""},
		{[]string{"run", "doctor"}, 127, "doctor"},
		{[]string{"doctor", "-h"}, 0, "-json"},
		{[]string{"doctor", "who"}, 2, "who"},
		{[]string{"trace", "-bogus"}, 2, "collrun trace -h explains"},
	} {
		got := command(t, test.args...).run()
		if got.status != test.status || !strings.Contains(got.report+got.out, test.says) {
			t.Errorf("%q: status %d, %s%s", test.args, got.status, got.out, got.report)
		}
	}
}

func TestSignals(t *testing.T) {
	int1, term := []os.Signal{syscall.SIGINT}, []os.Signal{syscall.SIGTERM}
	for _, test := range []struct {
		name, script string
		signals      []os.Signal
		status       int
	}{
		{"interrupted", `echo up; sleep 1000 & wait`, int1, 128 + 2},
		{"terminated", `echo up; sleep 1000 & wait`, term, 128 + 15},
		{"hung up", `echo up; sleep 1000 & wait`, []os.Signal{syscall.SIGHUP}, 128 + 1},
		{"handled", `trap 'exit 0' TERM; echo up; sleep 1000 & wait`, term, 0},
		{"handled, with a status", `trap 'exit 9' TERM; echo up; sleep 1000 & wait`, term, 9},
		{"twice", `trap '' INT; echo up; sleep 1000 & wait; wait`, []os.Signal{syscall.SIGINT, syscall.SIGINT}, 128 + 2},
		{"stopped and continued", `trap 'exit 0' CONT; echo up; sleep 1000 & wait`,
			[]os.Signal{syscall.SIGTSTP, syscall.SIGCONT}, 0},
		{"terminated while stopped", `(sleep .1; echo up) & kill -STOP $$`, term, 128 + 15},
		{"user's", `trap 'exit 0' USR1; echo up; sleep 1000 & wait`, []os.Signal{syscall.SIGUSR1}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.signals[0] == syscall.SIGHUP && signal.Ignored(syscall.SIGHUP) {
				t.Skip("these tests run under nohup: nothing that they start is hung up")
			}
			l := command(t, "-raw", "-n", "3", "sh", "-c", test.script)
			out := l.start()
			readLines(t, out, 3)
			for _, s := range test.signals {
				if err := l.cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
				if s == syscall.SIGTSTP {
					l.waitStopped()
				}
				time.Sleep(50 * time.Millisecond) // two at once are one
			}
			if _, err := io.ReadAll(out); err != nil {
				t.Error("somebody lives:", err)
			}
			_ = l.cmd.Wait()
			if got := l.cmd.ProcessState.ExitCode(); got != test.status {
				t.Errorf("status %d, want %d", got, test.status)
			}
			l.leavesNothing()
		})
	}
}

func TestNohup(t *testing.T) {
	l := command(t, "-raw", "-n", "1", "sh", "-c", "kill -HUP $PPID; echo up; sleep .1; echo done")
	l.cmd.Args = append([]string{"sh", "-c", `trap '' HUP; exec "$0" "$@"`}, l.cmd.Args...)
	l.cmd.Path, _ = exec.LookPath("sh")
	if got := l.run(); got.status != 0 || got.out != "up\ndone\n" {
		t.Errorf("status %d, %q, %s", got.status, got.out, got.report)
	}
}

// TestNobodyOutlivesCollrun kills it in ways that it cannot catch. The ranks' children have to end as well.
func TestNobodyOutlivesCollrun(t *testing.T) {
	const script = `echo $PPID; trap '' TERM INT HUP; sleep 1000 & touch ${COLL_SECRET_FILE%/*}/socket.$RANK; echo up; wait`
	t.Run("killed", func(t *testing.T) {
		l := command(t, "-raw", "-n", "4", "sh", "-c", script)
		out := l.start()
		readLines(t, out, 8)
		if err := l.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(out); err != nil {
			t.Error("somebody lives:", err)
		}
		_ = l.cmd.Wait()
		l.leavesNothing()
	})
	t.Run("nobody reads", func(t *testing.T) {
		l := command(t, "-n", "4", "sh", "-c", script+"; while :; do echo more; done")
		l.start().Close()
		_ = l.cmd.Wait()
		l.leavesNothing()
	})
}

// TestKilledAtAnyTime kills it while it makes its directory, runs, and removes it.
func TestKilledAtAnyTime(t *testing.T) {
	l := command(t, "-n", "1", "true")
	for after := time.Duration(0); after < 12*time.Millisecond; after += 100 * time.Microsecond {
		c := exec.Command(l.cmd.Path, l.cmd.Args[1:]...)
		c.Env = l.cmd.Env
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	time.Sleep(50 * time.Millisecond) // a keeper that has just been started may not have made its directory
	l.leavesNothing()
}

// TestKeeperTakesNoPath: no argument makes collrun remove what it has not made.
func TestKeeperTakesNoPath(t *testing.T) {
	dir := t.TempDir()
	if got := command(t, "-keep", dir).run(); got.status != 2 || !strings.Contains(got.report, "-keep") {
		t.Errorf("status %d, %s", got.status, got.report)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

// TestKeeperKilled: collrun says so, and its ranks go on to their own end.
func TestKeeperKilled(t *testing.T) {
	report, err := os.Create(filepath.Join(t.TempDir(), "report"))
	if err != nil {
		t.Fatal(err)
	}
	defer report.Close()
	l := command(t, "-n", "1", "sh", "-c", `read -r pid name state parent group rest </proc/$$/stat
		kill -KILL $group
		until grep -q keeper "$0"; do sleep 0.01; done`, report.Name())
	l.cmd.Stderr = report
	if err := l.cmd.Run(); err != nil {
		t.Error(err)
	}
	l.leavesNothing()
}

// TestBothKilled: what collrun and its keeper leave when both are killed at once, the next collrun removes.
func TestBothKilled(t *testing.T) {
	l := command(t, "-raw", "-n", "1", "sh", "-c", `read -r pid name state parent group rest </proc/$$/stat
		kill -KILL $group $PPID`)
	if _, err := io.ReadAll(l.start()); err != nil {
		t.Error("somebody lives:", err)
	}
	_ = l.cmd.Wait()
	if left, err := os.ReadDir(l.tmp); err != nil || len(left) != 1 {
		t.Fatalf("it left %v, want its directory (%v)", left, err)
	}
	next := command(t, "-n", "1", "true")
	next.cmd.Env = append(next.cmd.Env, "TMPDIR="+l.tmp)
	next.run()
	l.leavesNothing()
}

// TestNoDirectory is when the job's directory cannot be made.
func TestNoDirectory(t *testing.T) {
	l := command(t, "-n", "1", "true")
	l.cmd.Env = append(l.cmd.Env, "TMPDIR="+l.tmp+"/none")
	if got := l.run(); got.status != 1 || !strings.Contains(got.report, l.tmp+"/none") {
		t.Errorf("status %d, %s", got.status, got.report)
	}
}

// TestSlowReader gets everything, however long after the ranks' end.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	const lines = 20000
	l := command(t, "-n", "1", "seq", strconv.Itoa(lines))
	out := l.start()
	time.Sleep(2 * time.Second)
	readLines(t, out, lines)
	if err := l.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestDaemon that keeps the pipes open, and writes or does not, does not keep collrun.
func TestDaemon(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("needs setsid(1):", err)
	}
	for _, script := range []string{`exec sleep 1000`, `while echo more; do :; done`} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			file := t.TempDir() + "/pid"
			rank := `setsid sh -c 'echo $$ >` + file + `; ` + script + `' & while [ ! -s ` + file + ` ]; do sleep .01; done`
			got := command(t, "-n", "1", "sh", "-c", rank).run()
			if got.status != 0 {
				t.Errorf("status %d, %s", got.status, got.report)
			}
			text, err := os.ReadFile(file)
			pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil || pid == 0 {
				t.Fatalf("pid %q, %v", text, err)
			}
			_ = syscall.Kill(pid, syscall.SIGKILL) // the one that writes may have ended with its pipe
		})
	}
}

func TestOutputIsWholeLines(t *testing.T) {
	const ranks, lines, length = 4, 5, 1 << 20
	script := `i=0; while [ $i -lt ` + strconv.Itoa(lines) + ` ]; do
		head -c ` + strconv.Itoa(length) + ` /dev/zero | tr '\0' $RANK; echo; echo short >&2; i=$((i+1)); done; printf "the end"`
	l := command(t, "-n", strconv.Itoa(ranks), "sh", "-c", script)
	l.cmd.Stderr = nil
	var both bytes.Buffer
	l.cmd.Stdout, l.cmd.Stderr = &both, &both
	if err := l.cmd.Run(); err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	for line := range strings.Lines(both.String()) {
		if len(line) > length {
			r := line[1:2]
			line = strings.Replace(line, strings.Repeat(r, length), "long", 1)
		}
		count[line]++
	}
	want := make(map[string]int)
	for r := range ranks {
		prefix := "[" + strconv.Itoa(r) + "] "
		want[prefix+"long\n"], want[prefix+"short\n"], want[prefix+"the end\n"] = lines, lines, 1
	}
	if d := cmp.Diff(want, count); d != "" {
		t.Error(d)
	}
}
