package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/collgen/collgen/internal/events"
)

// job is a run of job/main.go, and what of it is held against the models.
type job struct {
	transport, what string
	calls           []int // by their place among those of the first communicator, from 0
	failure         bool  // and how the communicator was given up
}

var jobs = []job{
	{transport: "shm", what: "normal", calls: []int{0, 1, 2}},
	{transport: "shm", what: "slow", calls: []int{2}},
	{transport: "shm", what: "killed", calls: []int{1}, failure: true},
	{transport: "shm", what: "cancelled", calls: []int{1}, failure: true},
	{transport: "tcp", what: "normal", calls: []int{0, 1, 2}},
	{transport: "tcp", what: "slow", calls: []int{2}},
	{transport: "tcp", what: "killed", calls: []int{1}, failure: true},
	{transport: "tcp", what: "cancelled", calls: []int{1}, failure: true},
}

// jobSize is the number of ranks of each job.
const jobSize = 3

// traced returns the checks of what all jobs wrote down, in folder dir, run by the programs in folder bin.
func traced(ctx context.Context, bin, dir string) (checks []*check, err error) {
	for _, j := range jobs {
		ranks, err := j.run(ctx, bin, filepath.Join(dir, j.transport+"-"+j.what))
		if err != nil {
			return nil, fmt.Errorf("the job %s over %s: %w", j.what, j.transport, err)
		}
		made, err := j.checks(ranks)
		if err != nil {
			return nil, fmt.Errorf("the trace of the job %s over %s: %w", j.what, j.transport, err)
		}
		checks = append(checks, made...)
	}
	return checks, nil
}

// run returns the events of all ranks of the job, which writes them to dir.
func (j *job) run(ctx context.Context, bin, dir string) (ranks [][]events.Event, err error) {
	program, err := filepath.Abs(filepath.Join(bin, "job"))
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "collrun"), "-survive", "-timeout", "60s", "-n",
		fmt.Sprint(jobSize), program, j.what)
	cmd.Env = append(os.Environ(), "COLL_EVENTS="+dir, "COLL_TRANSPORT="+j.transport)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	for process := range jobSize {
		f, err := os.Open(filepath.Join(dir, events.FileName(process)))
		if err != nil {
			return nil, err
		}
		file, err := events.Read(f)
		_ = f.Close() // it was only read
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		ranks = append(ranks, file.Events)
	}
	return ranks, nil
}

// checks returns what of the job's events is held against the models: as they are, and doctored.
func (j *job) checks(ranks [][]events.Event) (checks []*check, err error) {
	world := only(ranks, 1)
	for _, i := range j.calls {
		call, err := callOf(world, i)
		if err != nil {
			return nil, err
		}
		c, err := call.check(fmt.Sprintf("%s %s, call %d", j.transport, j.what, i+1))
		if err != nil {
			return nil, err
		}
		checks = append(checks, c)
		if j.what == "normal" && i == 0 {
			doctored, err := call.doctored(j.transport)
			if err != nil {
				return nil, err
			}
			checks = append(checks, doctored...)
		}
	}
	if j.failure {
		t := failureOf(world)
		doctored, err := t.doctored(j.transport + " " + j.what)
		if err != nil {
			return nil, err
		}
		checks = append(append(checks, t.check(j.transport+" "+j.what)), doctored...)
	}
	follows := j.rings
	if j.transport == "tcp" {
		follows = j.streams
	}
	made, err := follows(world)
	return append(checks, made...), err
}

// followed is the rings or connections of a job that are followed: to the rank with which something happens, and from
// it to one that comes late, and to one that does not.
var followed = [][2]int{{0, 1}, {1, 0}, {1, 2}}

// rings returns the rings of shared memory that are followed.
func (j *job) rings(world [][]events.Event) (checks []*check, err error) {
	for _, ends := range followed {
		checks = append(checks, ringOf(world, ends[0], ends[1]).check(j.transport+" "+j.what))
	}
	if j.what == "normal" {
		doctored, err := ringOf(world, 0, 1).doctored(j.transport)
		if err != nil {
			return nil, err
		}
		checks = append(checks, doctored...)
	}
	return checks, nil
}

// streams returns the connections of TCP that are followed.
func (j *job) streams(world [][]events.Event) (checks []*check, err error) {
	for i, ends := range followed {
		t, err := streamOf(world, ends[0], ends[1])
		if err != nil {
			return nil, err
		}
		checks = append(checks, t.check(j.transport+" "+j.what))
		if j.what != "normal" || i > 0 {
			continue
		}
		doctored, err := t.doctored(j.transport)
		if err != nil {
			return nil, err
		}
		checks = append(checks, doctored...)
	}
	return checks, nil
}

// only returns the events of one communicator.
func only(ranks [][]events.Event, comm uint64) [][]events.Event {
	of := make([][]events.Event, len(ranks))
	for r := range ranks {
		for _, e := range ranks[r] {
			if e.Comm == comm {
				of[r] = append(of[r], e)
			}
		}
	}
	return of
}

// traceOfCall is the events of one call of a communicator that has all processes of its job.
type traceOfCall struct {
	events.Call
	ranks [][]events.Event
}

// within are the events of a call that a model of calls knows.
var within = []events.Kind{events.Begin, events.Step, events.Put, events.Sent, events.Placed, events.Done, events.Copy,
	events.Reduce, events.Finish, events.End, events.Failed}

// callOf is call i of a communicator. A rank that was not in it has no events.
func callOf(ranks [][]events.Event, i int) (*traceOfCall, error) {
	t := &traceOfCall{ranks: make([][]events.Event, len(ranks))}
	for r, all := range ranks {
		n := -1
		for _, e := range all {
			if e.Do == events.Begin {
				if n++; n == i {
					t.Call = *e.Call
				}
			}
			if n == i && slices.Contains(within, e.Do) {
				t.ranks[r] = append(t.ranks[r], e)
			}
		}
	}
	if t.Algorithm == "" {
		return nil, fmt.Errorf("nobody has begun call %d", i+1)
	}
	return t, nil
}
