package fast

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func init() {
	roles["grow"] = func(ctx context.Context, _ []string) error { return useGrown(ctx, growJob) }
	roles["guest"] = func(ctx context.Context, args []string) error {
		return useGrown(ctx, func(ctx context.Context) (*Comm, error) {
			for _, name := range []string{"RANK", "WORLD_SIZE"} { // so that it has no launcher
				if err := os.Unsetenv(name); err != nil {
					return nil, err
				}
			}
			return Join(ctx, args[0], FromEnv()...)
		})
	}
}

// growJob returns a rank of a job that takes in one more, whose ticket rank 0 prints.
func growJob(ctx context.Context) (*Comm, error) {
	c, err := Init(ctx, FromEnv()...)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if c.Rank() == 0 {
		ticket, err := c.Invite(ctx)
		if err != nil {
			return nil, err
		}
		fmt.Println("ticket", ticket)
	}
	return c.Grow(ctx)
}

// useGrown uses the communicator that begin makes.
func useGrown(ctx context.Context, begin func(context.Context) (*Comm, error)) error {
	c, err := begin(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for seed, op := range operations {
		if err := op.run(ctx, c, 1000, seed); err != nil {
			return err
		}
	}
	fmt.Println("done as", c.Rank(), "of", c.Size())
	return nil
}

// TestGrowProcesses: a process that was started later joins a job by a ticket, over every transport, and a second one
// with the same ticket does not.
func TestGrowProcesses(t *testing.T) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, secret, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, over := range []string{"shm", "tcp"} {
		j := newJob(t, 3, "grow")
		j.with = []string{"COLL_TRANSPORT=" + over, "COLL_SECRET_FILE=" + file}
		ranks := j.start(0, 3)
		ticket, found := strings.CutPrefix(ranks[0].line(t), "ticket ")
		if !found {
			t.Fatal(ticket)
		}
		guests := *j
		guests.role = "guest " + ticket
		guest := guests.start(3, 4)
		for _, p := range append(ranks, guest...) {
			if got, want := p.line(t), fmt.Sprint("done as ", p.rank, " of 4"); got != want {
				t.Errorf("over %s: %q, want %q", over, got, want)
			}
		}
		late := guests.start(4, 5)
		if _, text := late[0].failure(t); text == "" {
			t.Errorf("over %s: the same ticket is good twice", over)
		}
		j.end(append(append(ranks, guest...), late...))
	}
}
