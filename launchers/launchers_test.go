package launchers

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// allowed, in the environment, has the tests run what needs root, or has to be installed: launchers and servers.
const allowed = "COLLGEN_LAUNCHERS"

// deadline bounds whatever a test waits for.
const deadline = 2 * time.Minute

// bin has collrun and rollcall.
var bin string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	var err error
	if bin, err = os.MkdirTemp("", "launchers-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(bin)
	build := exec.Command("go", "build", "-o", bin, "./rollcall", "github.com/collgen/collgen/cmd/collrun")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s", out)
		return 1
	}
	return m.Run()
}

func program(name string) string { return filepath.Join(bin, name) }

// needs leaves the test out, and prints why, unless these programs are installed and this is make test-launchers.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if os.Getenv(allowed) == "" {
		t.Skip("make test-launchers runs it")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			leaveOut(t, "%v", err)
		}
	}
}

// needsRoot leaves the test out, and prints why, unless it may make namespaces.
func needsRoot(t *testing.T) {
	t.Helper()
	needs(t)
	if os.Geteuid() != 0 {
		leaveOut(t, "only root may make network namespaces here")
	}
}

// leaveOut ends a test that cannot run. It says so without -v too.
func leaveOut(t *testing.T, format string, args ...any) {
	t.Helper()
	reason := fmt.Sprintf(format, args...)
	fmt.Fprintf(os.Stderr, "%s is left out: %s\n", t.Name(), reason)
	t.Skip(reason)
}

// place is where programs of a test run.
type place struct {
	t    *testing.T
	tmp  string   // their temporary directory, in which they leave nothing
	env  []string // what they find in their environment
	host *host    // nil: this one
}

// here is this host, with an environment in which nothing speaks of launchers.
func here(t *testing.T) *place {
	p := &place{t: t, tmp: t.TempDir()}
	for _, v := range os.Environ() {
		if !ofLauncher(v) {
			p.env = append(p.env, v)
		}
	}
	p.env = append(p.env, "TMPDIR="+p.tmp)
	t.Cleanup(p.wantNothingLeft)
	return p
}

// ofLauncher tells whether a variable is one that a launcher sets. These tests may be run by one.
func ofLauncher(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	if slices.Contains([]string{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TMPDIR"}, name) {
		return true
	}
	return slices.ContainsFunc([]string{"COLL_", "MASTER_", "OMPI_", "PMI", "SLURM", "JOB_COMPLETION_"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// with is p with more in its environment.
func (p *place) with(env ...string) *place {
	more := *p
	more.env = append(slices.Clip(p.env), env...)
	return &more
}

func (p *place) wantNothingLeft() {
	left, err := os.ReadDir(p.tmp)
	if err != nil || len(left) > 0 {
		p.t.Errorf("left in %s: %v %v", p.tmp, left, err)
	}
}

// command is a program there, not yet started, that is killed with all that it started at the test's end.
func (p *place) command(ctx context.Context, args ...string) *exec.Cmd {
	if p.host != nil {
		args = append(p.host.enter(), args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = p.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// output runs a program there and returns what it prints. The test fails if it does not end well.
func (p *place) output(args ...string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), deadline)
	defer cancel()
	cmd := p.command(ctx, args...)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("%v: %v\n%s%s", args, err, &out, &diag)
	}
	return out.String()
}

// answers are what the ranks of rollcall print if those in each of hosts share one.
func answers(hosts ...[]int) (lines []string) {
	size := len(slices.Concat(hosts...))
	for _, host := range hosts {
		for _, rank := range host {
			lines = append(lines, fmt.Sprintf("rank %d of %d: %s\n", rank, size, topology(rank, hosts)))
		}
	}
	slices.Sort(lines)
	return lines
}

// topology is what rank has to see of the hosts: its neighbours through shared memory, and the others over TCP.
func topology(rank int, hosts [][]int) string {
	text := fmt.Sprintf("%d hosts:", len(hosts))
	if len(hosts) == 1 {
		text = "1 host:"
	}
	var near, far []int
	for _, host := range hosts {
		text += fmt.Sprint(" ", host)
		if slices.Contains(host, rank) {
			near = slices.DeleteFunc(slices.Clone(host), func(r int) bool { return r == rank })
		} else {
			far = append(far, host...)
		}
	}
	if len(near) > 0 {
		text += fmt.Sprintf("; shm to %v", near)
	}
	if len(far) > 0 {
		text += fmt.Sprintf("; tcp to %v", far)
	}
	return text
}

// wantAnswers compares what the ranks of rollcall printed, in whatever order, with what they have to.
func wantAnswers(t *testing.T, printed string, hosts ...[]int) {
	t.Helper()
	if d := cmp.Diff(answers(hosts...), slices.Sorted(strings.Lines(printed))); d != "" {
		t.Error(d)
	}
}
