package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/internal/scratch"
	"github.com/collgen/collgen/verify/colltest"
)

// Job is an implementation in other processes. In its Command, {n} stands for the number of ranks, and {dir} for an
// empty folder in which the ranks of one start can meet, and which exists as long as they do. A command with {rank}
// starts one rank, which uses its standard input and output. A command without it starts all ranks, as mpirun does, and
// each connects to the socket that the environment variable COLLGEN_CONFORM names.
type Job struct {
	Command []string
	// Env is the environment of the command, as in [os.Environ]. If it is nil, the command has that of this process.
	Env []string
	Can colltest.Capabilities // from the ranks' hellos; callers may remove some
}

// Variable is the name of the environment variable with the socket.
const Variable = "COLLGEN_CONFORM"

// NewJob returns the job of a command in an environment, which is the field Env. It starts the command once, on the
// first of sizes, to learn its capabilities.
func NewJob(ctx context.Context, command, env []string, sizes []int) (*Job, error) {
	if len(command) == 0 || len(sizes) == 0 {
		return nil, errors.New("want a command, and numbers of ranks")
	}
	j := &Job{Command: command, Env: env}
	w, err := j.start(ctx, sizes[0])
	if err != nil {
		return nil, err
	}
	j.Can = w.can
	j.Can.Sizes = sizes
	return j, w.Close()
}

// Capabilities returns the field Can.
func (j *Job) Capabilities() colltest.Capabilities { return j.Can }

// Start starts the command, and waits for the hellos of all ranks.
func (j *Job) Start(ctx context.Context, size int) (colltest.World, error) {
	w, err := j.start(ctx, size)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (j *Job) start(ctx context.Context, size int) (*world, error) {
	w := &world{links: make([]*link, size), env: j.Env}
	begin := w.startLauncher
	if slices.ContainsFunc(j.Command, func(word string) bool { return strings.Contains(word, "{rank}") }) {
		begin = w.startRanks
	}
	dir, remove, err := scratch.Dir("conform")
	if err != nil {
		return nil, err
	}
	w.close = append(w.close, func() error { remove(); return nil })
	meeting := filepath.Join(dir, "meeting")
	if err = os.Mkdir(meeting, 0o700); err == nil {
		err = begin(ctx, dir, j.words(size, meeting))
	}
	if err != nil {
		err = errors.Join(err, w.kill())
		if said := w.output.String(); said != "" {
			err = fmt.Errorf("%w\nIt wrote:\n%s", err, said)
		}
		return nil, err
	}
	return w, nil
}

// words returns the command for one rank of size.
func (j *Job) words(size int, dir string) func(rank int) []string {
	return func(rank int) (words []string) {
		for _, word := range j.Command {
			words = append(words, strings.NewReplacer("{n}", strconv.Itoa(size), "{rank}", strconv.Itoa(rank), "{dir}",
				dir).Replace(word))
		}
		return words
	}
}

// world is the ranks of a job.
type world struct {
	links     []*link // by rank
	processes []*process
	env       []string // of the processes; nil: that of this one
	can       colltest.Capabilities
	output    tail // of all processes
	close     []func() error
	broken    atomic.Bool // a call has failed, and ranks may still be in it
}

// mostLine is the largest length of a line in a hello.
const mostLine = 4096

// meet reads the hello at l, which has to be from the given rank unless that is negative.
func (w *world) meet(ctx context.Context, l *link, rank int) error {
	var h *hello
	err := l.during(ctx, func() (err error) {
		h, err = readHello(func() (string, error) { return l.line(mostLine) })
		return err
	})
	switch {
	case errors.Is(err, errGone) && rank >= 0:
		return fmt.Errorf("what a rank says first: %w", w.gone(rank))
	case err != nil:
		return fmt.Errorf("what a rank says first: %w", err)
	case h.size != len(w.links):
		return fmt.Errorf("rank %d says that it is one of %d, want %d: is {n} in the command?", h.rank, h.size, len(w.links))
	case rank >= 0 && h.rank != rank:
		return fmt.Errorf("rank %d says that it is rank %d", rank, h.rank)
	case w.links[h.rank] != nil:
		return fmt.Errorf("two ranks say that they are rank %d", h.rank)
	case len(w.can.Types) > 0 && !reflect.DeepEqual(w.can, h.can):
		return fmt.Errorf("rank %d does not have what the others have", h.rank)
	}
	w.can, w.links[h.rank] = h.can, l
	return nil
}

// gone returns errGone with what is known of the reason.
func (w *world) gone(rank int) error {
	p := w.processes[min(rank, len(w.processes)-1)]
	select {
	case <-p.ended:
	case <-time.After(time.Second): // a launcher may outlive its ranks
	}
	err := p.or(errGone)
	if said := w.output.String(); said != "" {
		return fmt.Errorf("%w; the job wrote:\n%s", err, said)
	}
	return err
}

// leaving is the time that ranks have to end.
const leaving = 5 * time.Second

// Close asks all ranks to end, waits for them, and kills those that do not. After a failed call it kills all of them.
func (w *world) Close() error {
	if w.broken.Load() {
		return w.kill()
	}
	deadline := time.Now().Add(leaving)
	for _, l := range w.links {
		_ = l.SetDeadline(deadline)
		_, _ = l.Write([]byte("end\n")) // a rank that cannot be written to has ended, or will be killed
	}
	var errs []error
	for _, p := range w.processes {
		if err := p.wait(deadline); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, w.kill())...)
}

// kill ends all remaining processes, and removes the job's files.
func (w *world) kill() error {
	var errs []error
	for _, p := range w.processes {
		p.terminate()
	}
	deadline := time.Now().Add(killing)
	for _, p := range w.processes {
		p.kill(deadline)
	}
	for _, l := range w.links {
		if l != nil {
			_ = l.Close()
		}
	}
	for _, f := range w.close {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}
