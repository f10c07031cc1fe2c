//go:build linux

package launchers

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// soak, in the environment, has the long tests try more often.
const soak = "COLLGEN_SOAK"

// The promise is that both sides of a cut link know within 2.5 s: after 2 s without a sign of life, and some more. The
// tests leave a busy machine more than that.
const (
	promise = 2500 * time.Millisecond
	noise   = time.Second
)

// clock is rollcall's.
func clock() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return time.Duration(t.Nano())
}

// cuts are links between three hosts that go dead.
var cuts = []struct {
	name  string
	links [][2]int // from, to
	names string   // the ranks, two on each host, of which the errors may speak
}{
	{"both ways", [][2]int{{0, 1}, {1, 0}}, "[0-3]"},
	{"one way", [][2]int{{0, 1}}, "[0-3]"},
	{"the other way", [][2]int{{1, 0}}, "[0-3]"},
	{"a host from all others", [][2]int{{2, 0}, {0, 2}, {2, 1}, {1, 2}}, "[0-5]"},
	{"what a host sends", [][2]int{{1, 0}, {1, 2}}, "[0-5]"},
}

// TestLinkCut cuts links while ranks on three hosts are in collectives. All of them get an error that names a rank at the
// cut, and nobody hangs.
func TestLinkCut(t *testing.T) {
	rounds := 1
	if os.Getenv(soak) != "" {
		rounds = 20
	}
	w := newNetwork(t, 3)
	p := here(t).with(secret(t), "COLL_SIZE=6", "COLL_STORE=tcp://10.77.0.1:29500")
	tries, failures, worst := 0, 0, time.Duration(0)
	for _, cut := range cuts {
		for _, elements := range []string{"1", "1000000"} {
			t.Run(cut.name+", elements "+elements, func(t *testing.T) {
				for range rounds {
					tries++
					late, ok := w.cutWhileRunning(t, p, cut.links, elements, cut.names)
					worst = max(worst, late)
					if !ok {
						failures++
					}
				}
			})
		}
	}
	fmt.Printf("link cut: %d tries, %d failures; the last rank knew after %v, want %v\n", tries, failures, worst, promise)
}

// cutWhileRunning is one round: how long it took until all ranks knew, and whether all is as it should be.
func (w *network) cutWhileRunning(t *testing.T, p *place, links [][2]int, elements, names string) (late time.Duration, ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	w.mend()
	var ranks []*running
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
	at, ok := clock(), true
	want := regexp.MustCompile(`^failed at (\d+) .*rank ` + names + `: `)
	for rank, r := range ranks {
		line := r.line(t)
		found := want.FindStringSubmatch(line)
		if found == nil {
			t.Errorf("rank %d: %q, want %v", rank, line, want)
			ok = false
			continue
		}
		knew, _ := strconv.ParseInt(found[1], 10, 64)
		if after := time.Duration(knew) - at; after > promise+noise {
			t.Errorf("rank %d knew after %v: %s", rank, after, line)
			ok = false
		} else {
			late = max(late, after)
		}
	}
	return late, ok
}

// running is a program that was started.
type running struct {
	cmd  *exec.Cmd
	out  *bufio.Reader
	diag *strings.Builder
}

// start starts a program that ends with the test.
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
	t.Cleanup(func() { _ = cmd.Wait() })
	return r
}

// line is the next line that it prints.
func (r *running) line(t *testing.T) string {
	t.Helper()
	line, err := r.out.ReadString('\n')
	if err != nil {
		_ = r.cmd.Wait()
		t.Fatalf("%v: %v; stderr: %s", r.cmd.Args, err, r.diag)
	}
	return strings.TrimSuffix(line, "\n")
}
