package hosts

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

func TestMain(m *testing.M) { fasttest.Main(m) }

func init() { fasttest.Roles["two-level"] = repeat }

// onThree are the hosts of ranks that are killed.
var onThree = placement{0, 1, 0, 1, 0, 2}

// repeat repeats the calls of one operation, given by its number, or barriers, until one fails.
func repeat(ctx context.Context, args []string) error {
	number, err := strconv.Atoi(args[0])
	rank, wrong := strconv.Atoi(os.Getenv("RANK"))
	if err := errors.Join(err, wrong, os.Setenv("COLL_HOST", fmt.Sprint("host ", onThree[rank]))); err != nil {
		return err
	}
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	h, err := New(ctx, c)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(h.hosts, onThree.hosts(), slices.Equal) {
		return fmt.Errorf("the hosts are %v", h.hosts)
	}
	call := Barrier
	if number < len(operations) {
		call = operations[number].repeated(c.Size())
	}
	fmt.Println("up")
	for {
		if err := call(ctx, h); err != nil {
			return fmt.Errorf("blames %v, who died: %t, %t: %w", fast.Culprits(err), errors.Is(err, fast.ErrDied),
				errors.Is(err, errMeaning), err)
		}
	}
}

// TestKilled ends the process of a rank at some point of each operation, over shared memory and TCP: the others have an
// error that names it, and nothing is left.
func TestKilled(t *testing.T) {
	victims := rand.Perm(len(onThree))
	for number := range len(operations) + 1 {
		victim := victims[number%len(victims)]
		j := fasttest.NewJob(t, len(onThree), fmt.Sprint("two-level ", number))
		ranks := j.Start(0, len(onThree))
		for _, p := range ranks {
			if l := p.Line(t); l != "up" {
				t.Fatalf("operation %d, rank %d: %s", number, p.Rank, l)
			}
		}
		time.Sleep(time.Duration(rand.IntN(10_000)) * time.Microsecond)
		if err := ranks[victim].Process.Kill(); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("blames [%d], who died: true, false:", victim)
		for _, p := range ranks {
			if p.Rank == victim {
				continue
			}
			if _, text := p.Failure(t); !strings.HasPrefix(text, want) {
				t.Errorf("operation %d, rank %d: %s, want %s", number, p.Rank, text, want)
			}
		}
		j.End(ranks)
	}
}
