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
	ranks := make([][]rankResult, n)
	err := fast.Run(ctx, int(n), func(ctx context.Context, c *fast.Comm) error {
		ranks[c.Rank()] = performAll(ctx, c, ofRank(calls, c.Rank()))
		return nil
	})
	return byCall(ranks), err
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
	for r := range w.ranks {
		if err := w.to[r].Encode(ofRank(calls, r)); err != nil {
			return nil, fmt.Errorf("rank %d: %w", r, err)
		}
	}
	ranks := make([][]rankResult, len(w.ranks))
	for r := range w.ranks {
		if err := w.from[r].Decode(&ranks[r]); err != nil {
			return nil, fmt.Errorf("rank %d: %w", r, err)
		}
	}
	return byCall(ranks), nil
}

// ofRank is rank's part of calls.
func ofRank(calls [][]rankCall, rank int) []rankCall {
	mine := make([]rankCall, len(calls))
	for i := range calls {
		mine[i] = calls[i][rank]
	}
	return mine
}

// byCall is the results of all ranks, call by call.
func byCall(ranks [][]rankResult) [][]rankResult {
	calls := make([][]rankResult, len(ranks[0]))
	for i := range calls {
		for _, mine := range ranks {
			calls[i] = append(calls[i], mine[i])
		}
	}
	return calls
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
		if err := to.Encode(serve(c, calls)); err != nil {
			return err
		}
	}
}

// serve makes calls within the time that they may take.
func serve(c *fast.Comm, calls []rankCall) []rankResult {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return performAll(ctx, c, calls)
}
