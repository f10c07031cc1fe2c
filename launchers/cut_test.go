//go:build linux

package launchers

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// soak, in the environment, has the long tests try more often.
const soak = "COLLGEN_SOAK"

// promise is that both sides of a cut link know within 2.5 s: after 2 s without a sign of life, and some more.
const promise = 2500 * time.Millisecond

// noise is how much more time the tests leave a busy machine. Under `make soak`, which has the machine to itself, what
// is promised is all there is.
var noise = func() time.Duration {
	if os.Getenv(soak) != "" {
		return 0
	}
	return time.Second
}()

// clock returns rollcall's.
func clock() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return time.Duration(t.Nano())
}

// cuts are links between three hosts that go dead.
var cuts = []struct {
	name  string
	links [][2]int // from, to
	at    string   // the ranks, two on each host, that are at the cut
}{
	{"both ways", [][2]int{{0, 1}, {1, 0}}, "[0-3]"},
	{"one way", [][2]int{{0, 1}}, "[0-3]"},
	{"the other way", [][2]int{{1, 0}}, "[0-3]"},
	{"a host from all others", [][2]int{{2, 0}, {0, 2}, {2, 1}, {1, 2}}, "[0-5]"},
	{"what a host sends", [][2]int{{1, 0}, {1, 2}}, "[0-5]"},
}

// TestLinkCut cuts links while ranks on three hosts are in collectives. All of them get an error that names a rank, and
// nobody hangs. A rank that hears of it late may name one that has given up because of the cut instead of one that is
// at it, but not all of them do.
func TestLinkCut(t *testing.T) {
	rounds := 1
	if os.Getenv(soak) != "" {
		rounds = 20
	}
	w := newNetwork(t, 3)
	p := here(t).with(secret(t), "COLL_SIZE=6", "COLL_STORE=tcp://10.77.0.1:29500")
	tries, failures, worst := 0, 0, time.Duration(0)
	for _, cut := range cuts {
		named := regexp.MustCompile(`rank ` + cut.at + `: `)
		for _, elements := range []string{"1", "1000000"} {
			t.Run(cut.name+", elements "+elements, func(t *testing.T) {
				for range rounds {
					tries, failures = tries+1, failures+1 // unless it goes well
					late, errs := w.cutWhileRunning(t, p, cut.links, elements)
					worst = max(worst, late)
					if late > promise+noise || !slices.ContainsFunc(errs, named.MatchString) {
						t.Errorf("after %v: %q", late, errs)
						continue
					}
					failures--
				}
			})
		}
	}
	fmt.Printf("link cut: %d tries, %d failures; the last rank knew after %v, want %v\n", tries, failures, worst, promise)
}

// failure is what a rank of rollcall prints when a call fails: the time, and an error that names a rank.
var failure = regexp.MustCompile(`^failed at (\d+) (.*rank [0-5]: .*)$`)

// cutWhileRunning returns one round: how long it took until all ranks knew, and their errors.
func (w *network) cutWhileRunning(t *testing.T, p *place, links [][2]int, elements string) (late time.Duration,
	errs []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	w.mend()
	var ranks []*running
	defer func() {
		cancel()
		for _, r := range ranks {
			_ = r.cmd.Wait()
		}
	}()
	for rank := range 6 {
		there := p.on(w.hosts[rank/2]).with(fmt.Sprint("COLL_RANK=", rank))
		ranks = append(ranks, start(t, there.command(ctx, program("rollcall"), "-forever", elements)))
	}
	for _, r := range ranks {
		r.line(t) // it runs
	}
	for _, l := range links {
		w.cut(l[0], l[1])
	}
	at := clock()
	for rank, r := range ranks {
		line := r.line(t)
		found := failure.FindStringSubmatch(line)
		if found == nil {
			t.Fatalf("rank %d: %q, want %v", rank, line, failure)
		}
		knew, _ := strconv.ParseInt(found[1], 10, 64)
		late = max(late, time.Duration(knew)-at)
		errs = append(errs, found[2])
	}
	return late, errs
}

// running is a program that was started.
type running struct {
	cmd  *exec.Cmd
	out  *bufio.Reader
	diag *strings.Builder
}

// start starts a program, which the caller ends and waits for.
func start(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{cmd: cmd, diag: new(strings.Builder)}
	cmd.Stderr = r.diag
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	return r
}

// line returns the next line that it prints.
func (r *running) line(t *testing.T) string {
	t.Helper()
	line, err := r.out.ReadString('\n')
	if err != nil {
		_ = r.cmd.Wait()
		t.Fatalf("%v: %v; stderr: %s", r.cmd.Args, err, r.diag)
	}
	return strings.TrimSuffix(line, "\n")
}
