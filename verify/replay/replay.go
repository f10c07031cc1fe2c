package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/internal/events"
)

// Error is an event that does not follow a proved schedule.
type Error struct {
	File  string
	Line  int // from 1, which is the header
	Event *events.Event
	Err   error
}

// Error returns the file, the line, the event, and what is wrong with it.
func (e *Error) Error() string {
	return fmt.Sprintf("%s, line %d: %s: %v", e.File, e.Line, words(e.Event), e.Err)
}

// Unwrap returns what is wrong with the event.
func (e *Error) Unwrap() error { return e.Err }

// Report sums up a replay.
type Report struct {
	Processes, Events int
	Calls             map[string]int // of all ranks, by primitive, algorithm and transport: "AllReduce/ring over shm"
	Parts             map[events.Via]int
	Failed            int   // failed calls
	Died              []int // processes that others found to be gone, and that had neither failed nor left
}

// Read reads all files of a directory, by process.
func Read(dir fs.FS) ([]*events.File, error) {
	names, err := fs.Glob(dir, "rank-*.events")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("there are no files rank-*.events")
	}
	var all []*events.File
	for _, name := range names {
		f, err := readFile(dir, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *events.File) int { return a.Process - b.Process })
	return all, nil
}

func readFile(dir fs.FS, name string) (*events.File, error) {
	in, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f, err := events.Read(in)
	if err == nil && filepath.Base(name) != events.FileName(f.Process) {
		err = fmt.Errorf("it is process %d's", f.Process)
	}
	return f, err
}

// Replay replays the events of all processes of a job on the schedules of algorithms. It returns an *Error if an event
// is wrong, and another error if something is missing in the end.
func Replay(files []*events.File, algorithms []gen.Algorithm) (*Report, error) {
	r := &replay{algorithms: map[uint64]*gen.Algorithm{}, schedules: map[plan]*schedule{}, comms: map[uint64]*comm{},
		report: Report{Processes: len(files), Calls: map[string]int{}, Parts: map[events.Via]int{}}}
	for i := range algorithms {
		hash := algorithms[i].Hash()
		r.algorithms[binary.BigEndian.Uint64(hash[:])] = &algorithms[i]
	}
	for _, f := range files {
		r.tapes = append(r.tapes, &tape{file: f})
	}
	if err := complete(files); err != nil {
		return nil, err
	}
	if err := r.run(); err != nil {
		return nil, err
	}
	if r.report.Events == 0 {
		return nil, errors.New("there are no events")
	}
	return &r.report, r.finish()
}

// complete returns an error unless the files are of one job, and all of its first processes have one.
func complete(files []*events.File) error {
	if len(files) == 0 {
		return errors.New("there are no files")
	}
	has := map[int]bool{}
	for _, f := range files {
		switch {
		case f.Size != files[0].Size:
			return fmt.Errorf("%s is of a job of %d processes, and %s of one of %d", events.FileName(f.Process), f.Size,
				events.FileName(files[0].Process), files[0].Size)
		case has[f.Process]:
			return fmt.Errorf("there are two files of process %d", f.Process)
		}
		has[f.Process] = true
	}
	for process := range files[0].Size {
		if !has[process] {
			return fmt.Errorf("the job began with %d processes, and there is no %s", files[0].Size, events.FileName(process))
		}
	}
	return nil
}

// replay is a job that is being replayed.
type replay struct {
	algorithms map[uint64]*gen.Algorithm // by hash
	schedules  map[plan]*schedule
	comms      map[uint64]*comm
	tapes      []*tape
	report     Report
}

// tape is the events of one process.
type tape struct {
	file  *events.File
	next  int
	waits error // what the next one waits for
}

// waiting is the reason why an event is not possible yet.
type waiting struct{ error }

func wait(format string, args ...any) error { return waiting{fmt.Errorf(format, args...)} }

// run processes events as long as one is possible.
func (r *replay) run() error {
	for moved := true; moved; {
		moved = false
		for _, t := range r.tapes {
			n, err := r.play(t)
			if err != nil {
				return err
			}
			moved = moved || n > 0
		}
	}
	for _, t := range r.tapes {
		if t.next < len(t.file.Events) {
			return t.fault(t.waits)
		}
	}
	return nil
}

// play processes the events of t that are possible, and returns their number.
func (r *replay) play(t *tape) (n int, err error) {
	for ; t.next < len(t.file.Events); n++ {
		var later waiting
		switch err := r.take(t, &t.file.Events[t.next]); {
		case errors.As(err, &later):
			t.waits = later.error
			return n, nil
		case err != nil:
			return n, t.fault(err)
		}
		t.next++
		r.report.Events++
	}
	return n, nil
}

// fault returns an error about the next event.
func (t *tape) fault(err error) error {
	return &Error{events.FileName(t.file.Process), t.next + 2, &t.file.Events[t.next], err}
}

// take processes one event.
func (r *replay) take(t *tape, e *events.Event) error {
	if e.Do == events.Joined {
		return r.join(t, e)
	}
	c := r.comms[e.Comm]
	if c == nil || c.member(t.file.Process) == nil {
		return errors.New("the process is no member of the communicator")
	}
	m := c.member(t.file.Process)
	if m.closed && e.Do != events.Wrote && e.Do != events.Fate && e.Do != events.Tell && e.Do != events.Heard &&
		e.Do != events.Lost && e.Do != events.Failed {
		return errors.New("the rank has left the communicator")
	}
	switch e.Do {
	case events.Begin:
		return m.begin(r, e.Call)
	case events.Step:
		return m.step(e)
	case events.Put:
		r.report.Parts[e.Part.Via]++
		return m.put(e.Part)
	case events.Sent:
		return m.sent(e.Part)
	case events.Wrote, events.Came, events.Framed:
		return nil // cuts and frames of a stream do not concern the schedule: make tla-traces follows them
	case events.Taken:
		return m.taken(e.Part)
	case events.Placed:
		return m.placed(e.Part)
	case events.Freed:
		return m.freed(e.Part)
	case events.Done:
		return m.done()
	case events.Copy, events.Reduce, events.Finish:
		return m.local(e)
	case events.End:
		return m.end(r)
	case events.Failed:
		r.report.Failed++
		return m.fail(e.Ended)
	case events.Closed:
		return m.close()
	}
	return m.control(e)
}
