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
	"strconv"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
)

// goroutines is a world of ranks in this process.
type goroutines int

// patience is how long the calls of one run may take before the test calls it a hang.
const patience = time.Minute

func (n goroutines) run(calls [][]rankCall) ([][]rankResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	results := make([][]rankResult, len(calls))
	for i := range calls {
		results[i] = make([]rankResult, n)
	}
	return results, fast.Run(ctx, int(n), func(ctx context.Context, c *fast.Comm) error {
		for i := range calls {
			results[i][c.Rank()] = perform(ctx, c, &calls[i][c.Rank()])
		}
		return nil
	})
}

// processes is a world in which every rank is a process: this test's program, started again.
type processes struct {
	ranks []*exec.Cmd
	to    []*gob.Encoder
	from  []*gob.Decoder
}

// rankVariable is set in the environment of the processes that are ranks.
const rankVariable = "COLLGEN_TEST_IS_RANK"

func startProcesses(t *testing.T, size int) *processes {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w, job := &processes{}, rand.Text()
	for r := range size {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), rankVariable+"=1", "COLL_RANK="+strconv.Itoa(r), "COLL_SIZE="+strconv.Itoa(size),
			"COLL_LOCAL_SIZE="+strconv.Itoa(size), "COLL_JOB="+job)
		cmd.Stderr = os.Stderr
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.ranks, w.to, w.from = append(w.ranks, cmd), append(w.to, gob.NewEncoder(stdin)), append(w.from, gob.NewDecoder(stdout))
		t.Cleanup(func() {
			stdin.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		})
	}
	return w
}

func (w *processes) run(calls [][]rankCall) ([][]rankResult, error) {
	results := make([][]rankResult, len(calls))
	for r := range w.ranks {
		mine := make([]rankCall, len(calls))
		for i := range calls {
			mine[i] = calls[i][r]
		}
		if err := w.to[r].Encode(mine); err != nil {
			return nil, fmt.Errorf("rank %d: %w", r, err)
		}
	}
	for r := range w.ranks {
		var mine []rankResult
		if err := w.from[r].Decode(&mine); err != nil {
			return nil, fmt.Errorf("rank %d: %w", r, err)
		}
		for i := range mine {
			results[i] = append(results[i], mine[i])
		}
	}
	return results, nil
}

func TestMain(m *testing.M) {
	if os.Getenv(rankVariable) == "" {
		os.Exit(m.Run())
	}
	if err := serveRank(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveRank is a rank's process: it makes the calls that it is given until there are no more.
func serveRank(in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	c, err := fast.Init(ctx, fast.FromEnv()...)
	cancel()
	if err != nil {
		return err
	}
	defer c.Close()
	from, to := gob.NewDecoder(in), gob.NewEncoder(out)
	for {
		var calls []rankCall
		if err := from.Decode(&calls); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := to.Encode(performAll(c, calls)); err != nil {
			return err
		}
	}
}

func performAll(c *fast.Comm, calls []rankCall) []rankResult {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	results := make([]rankResult, len(calls))
	for i := range calls {
		results[i] = perform(ctx, c, &calls[i])
	}
	return results
}
