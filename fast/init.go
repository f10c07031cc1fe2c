package fast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// initTime is how long Init waits for the other ranks if its context has no deadline.
const initTime = time.Minute

// FromEnv takes everything from the environment, as torchrun and collrun set it: RANK, WORLD_SIZE, MASTER_ADDR and
// MASTER_PORT, of which the last two name the job. LOCAL_RANK and LOCAL_WORLD_SIZE have to agree where they are set,
// because all ranks are on one machine; COLL_DIR, which collrun sets, is the directory where they meet. A variable that
// is missing or has no meaning is an error of Init that names it.
func FromEnv() []InitOption {
	p, err := fromEnv()
	return []InitOption{
		WithRank(p.rank, p.size), WithJob(p.job), func(all *place) { all.dir = p.dir },
		func(all *place) { all.master, all.err = p.master, cmp.Or(all.err, err) },
	}
}

// Init connects this process with those of all other ranks, and returns when all of them are connected. Now all ranks
// have to be on one machine, run by one user; on systems other than Linux there can be only one. Ranks need no network.
//
// Init ends with ctx, or after a minute if ctx has no deadline. It fails with ErrInvalidArgument for an option that is
// wrong, *TimeoutError naming the ranks that did not come, *PeerError naming one that died, or in words; if it fails on
// one rank, it fails on all. The Comm is the caller's to close.
func Init(ctx context.Context, opts ...InitOption) (*Comm, error) {
	if ctx == nil {
		return nil, Refuse("Init", "the context is nil")
	}
	var p place
	for _, o := range opts {
		if o == nil {
			return nil, Refuse("Init", "an option is nil")
		}
		o(&p)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.size == 1 {
		return newComm(0, 1, nil), nil
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, initTime)
		defer cancel()
	}
	t, err := connect(ctx, &p)
	if err != nil {
		return nil, fmt.Errorf("connecting rank %d of %d: %w", p.rank, p.size, err)
	}
	return newComm(p.rank, p.size, t), nil
}

func (p *place) check() error {
	switch {
	case p.err != nil:
		return Refuse("Init", "%v", p.err)
	case p.size == 0:
		return Refuse("Init", "the rank is not given")
	case p.size < 0 || p.rank < 0 || p.rank >= p.size:
		return Refuse("Init", "there is no rank %d of %d", p.rank, p.size)
	}
	return nil
}

func fromEnv() (place, error) {
	var e environment
	p := place{
		rank: e.number("RANK", 0), size: e.number("WORLD_SIZE", 1),
		master: e.text("MASTER_ADDR"), dir: os.Getenv("COLL_DIR"),
	}
	p.job = fmt.Sprintf("%s:%d", p.master, e.number("MASTER_PORT", 1))
	if e.err == nil && p.rank >= p.size {
		e.err = fmt.Errorf("RANK is %d, and WORLD_SIZE is %d", p.rank, p.size)
	}
	e.oneMachine("LOCAL_RANK", "RANK", p.rank)
	e.oneMachine("LOCAL_WORLD_SIZE", "WORLD_SIZE", p.size)
	return p, e.err
}

// environment reads variables, and keeps the first error.
type environment struct{ err error }

func (e *environment) text(name string) string {
	v := os.Getenv(name)
	if v == "" {
		e.err = cmp.Or(e.err, fmt.Errorf("%s is not set", name))
	}
	return v
}

// number is a variable whose value is a number, at least least.
func (e *environment) number(name string, least int) int {
	v := e.text(name)
	n, err := strconv.Atoi(v)
	if err != nil || n < least {
		e.err = cmp.Or(e.err, fmt.Errorf("%s is %q, want a number from %d on", name, v, least))
		return least
	}
	return n
}

// oneMachine checks a variable that has the same value as another one, want, if all ranks are on one machine.
func (e *environment) oneMachine(name, other string, want int) {
	if os.Getenv(name) == "" {
		return
	}
	if n := e.number(name, 0); n != want {
		e.err = cmp.Or(e.err, fmt.Errorf("%s is %d and %s is %d: %w", name, n, other, want, errSeveralMachines))
	}
}

var errSeveralMachines = errors.New("ranks on several machines are not supported yet")
