package verify_test

import (
	"context"
	"crypto/rand"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/selection"
)

// processes is a world in which every rank is a process: this test's program, started again. It serves many programs.
// After a call that has failed it starts new ones.
type processes struct {
	t     *testing.T
	size  int
	by    *transport
	ranks []*rankProcess // none: not started
}

type rankProcess struct {
	*exec.Cmd
	in   io.Closer
	to   *gob.Encoder
	from *gob.Decoder
}

func newProcesses(t *testing.T, size int, by *transport) *processes {
	if runtime.GOOS != "linux" {
		t.Skip("processes meet without a secret on Linux alone")
	}
	w := &processes{t: t, size: size, by: by}
	t.Cleanup(w.end)
	return w
}

func (w *processes) over(members []int) selection.Call { return w.by.over(members) }

func (w *processes) run(programs []processProgram) (results []map[int]rankResult, err error) {
	defer func() {
		if err != nil || slices.ContainsFunc(results, failed) {
			w.end()
		}
	}()
	if w.ranks == nil {
		if err := w.start(); err != nil {
			return nil, err
		}
	}
	for rank, p := range w.ranks {
		if err := p.to.Encode(programs[rank]); err != nil {
			return nil, fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	for rank, p := range w.ranks {
		var mine map[int]rankResult
		if err := p.from.Decode(&mine); err != nil {
			return nil, fmt.Errorf("rank %d: %w", rank, err)
		}
		results = append(results, mine)
	}
	return results, nil
}

// failed reports whether a call has an error, after which no other can succeed.
func failed(results map[int]rankResult) bool {
	for _, r := range results {
		if r.Err != "" {
			return true
		}
	}
	return false
}

// rankVariable is set in the environment of the processes that are ranks.
const rankVariable = "COLLGEN_TEST_IS_RANK"

// start starts the processes, and checks how they talk.
func (w *processes) start() error {
	job := rand.Text()
	for rank := range w.size {
		p, err := w.startRank(rank, job)
		if err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
		w.ranks = append(w.ranks, p)
	}
	for rank, p := range w.ranks {
		var links []string
		if err := p.from.Decode(&links); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
		for peer, link := range links {
			if want := w.by.link(rank, peer); link != want && peer != rank {
				return fmt.Errorf("ranks %d and %d talk over %s, want %s", rank, peer, link, want)
			}
		}
	}
	return nil
}

func (w *processes) startRank(rank int, job string) (*rankProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), rankVariable+"=1", "COLL_RANK="+strconv.Itoa(rank), "COLL_SIZE="+strconv.Itoa(w.size),
		"COLL_LOCAL_SIZE="+strconv.Itoa(w.size), "COLL_JOB="+job,
		"GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE")) // the race detector would wait a second at the end
	cmd.Env = append(cmd.Env, w.by.env(rank)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &rankProcess{cmd, in, gob.NewEncoder(in), gob.NewDecoder(out)}, cmd.Start()
}

// end has all processes leave, and waits for them.
func (w *processes) end() {
	for _, p := range w.ranks {
		_ = p.in.Close()
	}
	for rank, p := range w.ranks {
		if err := p.Wait(); err != nil {
			w.t.Errorf("rank %d: %v", rank, err)
		}
	}
	w.ranks = nil
}

// TestWrongLink: processes that do not talk as they should are not taken for those that do.
func TestWrongLink(t *testing.T) {
	for _, env := range []func(int) []string{environment("COLL_TRANSPORT=tcp"), environment()} {
		w := newProcesses(t, 2, &transport{env: env, link: everywhere("pigeon")})
		if _, err := w.run(newProgram(2).processes); err == nil {
			t.Error("not seen")
		}
	}
}

func TestMain(m *testing.M) {
	if os.Getenv(rankVariable) == "" {
		if !raceDetector { // expected results leave much garbage; processes that are ranks collect theirs as ever
			debug.SetGCPercent(400)
		}
		os.Exit(m.Run())
	}
	if err := serveRank(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveRank runs a rank's process: it says how it talks to each rank, and performs the programs that it is given
// until there are no more.
func serveRank(in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	world, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	comms, err := divide(ctx, world)
	if err != nil {
		return errors.Join(err, world.Close())
	}
	from, to := gob.NewDecoder(in), gob.NewEncoder(out)
	err = to.Encode(world.Topology().Links)
	for err == nil {
		var p processProgram
		if err = from.Decode(&p); err == nil {
			err = to.Encode(performInTime(comms, &p))
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, closeAll(comms))
}

func performInTime(comms []*fast.Comm, p *processProgram) map[int]rankResult {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return perform(ctx, comms, p)
}
