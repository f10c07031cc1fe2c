//go:build unix && !aix && !solaris

// Package diagnosis merges what the flight recorders of a job's ranks have recorded, and finds stragglers, ranks that
// are out of step (desync), and ranks whose calls differ from those of the others.
package diagnosis

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/trace"
)

// recording is the trace of one rank.
type recording struct {
	*trace.Trace
	file string
}

// Job is the recordings of a job's ranks.
type Job struct {
	name       string
	size       int
	recordings []recording            // by rank
	sequences  []*sequence            // those that failed first are first
	members    map[uint64]map[int]int // by communicator: each process's rank in it
}

// Read reads files, and the files in folders. It calls warn for a file that cannot be read, because the others may
// suffice.
func Read(names []string, warn func(error)) (*Job, error) {
	files, err := traceFiles(names)
	if err != nil {
		return nil, err
	}
	var all []recording
	for _, name := range files {
		t, err := readFile(name)
		if err != nil {
			warn(fmt.Errorf("%s is left out: %w", name, err))
			continue
		}
		all = append(all, recording{t, name})
	}
	return newJob(all)
}

// traceFiles returns the files among names, and those in the folders among them.
func traceFiles(names []string) (files []string, err error) {
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, name)
			continue
		}
		within, err := os.ReadDir(name)
		if err != nil {
			return nil, err
		}
		for _, e := range within {
			if filepath.Ext(e.Name()) == ".jsonl" {
				files = append(files, filepath.Join(name, e.Name()))
			}
		}
	}
	return files, nil
}

// readFile reads one file.
func readFile(name string) (*trace.Trace, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return trace.Read(f)
}

// newJob combines the recordings of one job.
func newJob(all []recording) (*Job, error) {
	if len(all) == 0 {
		return nil, errors.New("there is no trace to read")
	}
	slices.SortStableFunc(all, func(a, b recording) int { return cmp.Compare(a.Rank, b.Rank) })
	j := &Job{name: all[0].Job, size: all[0].Size, recordings: all}
	for i, f := range all {
		switch {
		case f.Job != j.name || f.Size != j.size:
			return nil, fmt.Errorf("%s is of job %q with %d ranks, and %s of job %q with %d",
				all[0].file, j.name, j.size, f.file, f.Job, f.Size)
		case i > 0 && f.Rank == all[i-1].Rank:
			return nil, fmt.Errorf("%s and %s are both of rank %d", all[i-1].file, f.file, f.Rank)
		}
	}
	j.members = membersOf(j)
	j.sequences = sequencesOf(j)
	return j, nil
}

// at returns a time by the clock of f's host.
func (f *recording) at(nanoseconds int64) time.Time { return f.Origin.Add(time.Duration(nanoseconds)) }

// lastSteps returns the last n operations of each rank, by time.
func (j *Job) lastSteps(n int) (steps []Step) {
	for _, f := range j.recordings {
		for _, e := range f.Entries[max(0, len(f.Entries)-n):] {
			steps = append(steps, Step{f.Rank, f.at(e.Start), e})
		}
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return a.Time.Compare(b.Time) })
	return steps
}

// firstFailure returns which rank wrote its trace first because of a failure, in words; "" if none has.
func (j *Job) firstFailure() string {
	var first *recording
	for i := range j.recordings {
		f := &j.recordings[i]
		if f.Reason != onDemand && (first == nil || f.at(f.Written).Before(first.at(first.Written))) {
			first = f
		}
	}
	if first == nil {
		return ""
	}
	return fmt.Sprintf("Rank %d, on %s, wrote its trace first: %s", first.Rank, first.Host, first.Reason)
}

// onDemand is the reason of a trace that was not written because of a failure.
const onDemand = "on demand"
