//go:build unix && !aix && !solaris

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/collgen/collgen/fast"
)

// flight is what one rank has recorded.
type flight struct {
	*fast.Trace
	file string
}

// history is what the ranks of a job have recorded.
type history struct {
	job     string
	size    int
	flights []flight               // by rank
	lanes   []*lane                // the ones where something went wrong first are first
	members map[uint64]map[int]int // by communicator: each process's rank in it
}

// readFlights reads files, and those in folders. One that cannot be read is only told of, because the others may do.
func readFlights(names []string, tell func(error)) (*history, error) {
	files, err := traceFiles(names)
	if err != nil {
		return nil, err
	}
	var all []flight
	for _, name := range files {
		t, err := readFlight(name)
		if err != nil {
			tell(fmt.Errorf("%s is left out: %w", name, err))
			continue
		}
		all = append(all, flight{t, name})
	}
	return newHistory(all)
}

// traceFiles returns the files that names name: themselves, or those in a folder.
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

// readFlight reads one file.
func readFlight(name string) (*fast.Trace, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return fast.ReadTrace(f)
}

// newHistory puts together what the ranks of one job have recorded.
func newHistory(all []flight) (*history, error) {
	if len(all) == 0 {
		return nil, errors.New("there is no trace to read")
	}
	slices.SortStableFunc(all, func(a, b flight) int { return cmp.Compare(a.Rank, b.Rank) })
	h := &history{job: all[0].Job, size: all[0].Size, flights: all}
	for i, f := range all {
		switch {
		case f.Job != h.job || f.Size != h.size:
			return nil, fmt.Errorf("%s is of job %q with %d ranks, and %s of job %q with %d",
				all[0].file, h.job, h.size, f.file, f.Job, f.Size)
		case i > 0 && f.Rank == all[i-1].Rank:
			return nil, fmt.Errorf("%s and %s are both of rank %d", all[i-1].file, f.file, f.Rank)
		}
	}
	h.members = membersOf(h)
	h.lanes = lanesOf(h)
	return h, nil
}

// at returns a time of f's clock.
func (f *flight) at(nanoseconds int64) time.Time { return f.Origin.Add(time.Duration(nanoseconds)) }

// last returns the last n operations of each rank, by time.
func (h *history) last(n int) (steps []step) {
	for _, f := range h.flights {
		for _, e := range f.Entries[max(0, len(f.Entries)-n):] {
			steps = append(steps, step{f.Rank, f.at(e.Start), e})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.Time.Compare(b.Time) })
	return steps
}

// first says which rank gave up first, "" if none has.
func (h *history) first() string {
	var first *flight
	for i := range h.flights {
		f := &h.flights[i]
		if f.Reason != onDemand && (first == nil || f.at(f.Written).Before(first.at(first.Written))) {
			first = f
		}
	}
	if first == nil {
		return ""
	}
	return fmt.Sprintf("The first to give up was rank %d, on %s: %s", first.Rank, first.Host, first.Reason)
}

// onDemand is the reason of a trace that no failure made.
const onDemand = "on demand"
