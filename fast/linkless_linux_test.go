package fast

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
)

func init() { roles["linkless"] = linkWithoutFiles }

// linkWithoutFiles returns a broadcast between hosts, for which a rank may open no socket.
func linkWithoutFiles(ctx context.Context, args []string) error {
	if err := os.Setenv("COLL_HOST", "host of rank "+os.Getenv("RANK")); err != nil {
		return err
	}
	c, err := Init(ctx, FromEnv()...)
	if err != nil {
		return err
	}
	if args[1] == "polling" { // two links, so that there is what a rank waits with for more
		if err := SendRecv(ctx, c, make([]int, 1), c.Rank()^1, make([]int, 1), c.Rank()^1); err != nil {
			return err
		}
	}
	if fmt.Sprint(c.Rank()) == args[0] {
		if err := leaveFiles(int(args[2][0] - '0')); err != nil {
			return err
		}
	}
	if _, err := c.Agree(ctx, 0); err != nil { // over the control plane
		return err
	}
	for err = nil; err == nil; { // a rank that has what it needs may hear of it later
		err = Broadcast(ctx, c, make([]int, 10), 0)
	}
	if !errors.Is(err, ErrExhausted) || errors.Is(err, ErrDied) {
		return fmt.Errorf("not exhausted: %w", errors.Join(err, c.Close()))
	}
	blamed := Culprits(err)
	if len(blamed) == 0 {
		blamed = []int{c.Rank()}
	}
	if err := c.Close(); err != nil {
		return err
	}
	return fmt.Errorf("exhausted: %v", blamed)
}

// TestNoSockets: a rank that can open no socket for a link, or take none, is no dead one, and all that wait know which
// it is.
func TestNoSockets(t *testing.T) {
	for _, with := range []string{"polling 0", "polling 1", "new 0", "new 1"} {
		for _, crowded := range []int{0, 2} {
			j := newJob(t, 4, fmt.Sprint("linkless ", crowded, " ", with))
			for _, p := range j.start(0, 4) {
				if _, text := p.failure(t); text != fmt.Sprintf("exhausted: [%d]", crowded) {
					t.Errorf("%s, rank %d crowded, rank %d: %s", with, crowded, p.rank, text)
				}
			}
			j.wantNothingLeft()
		}
	}
}
