package flight

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/fast/trace"
)

// WriteTrace writes the trace of t's rank, with all its communicators.
func (t *Track) WriteTrace(w io.Writer) error { return t.r.trace("on demand").Write(w) }

// trace returns the trace of what r has kept.
func (r *Recorder) trace(reason string) *trace.Trace {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	t := &trace.Trace{Header: trace.Header{Format: trace.Format, Rank: r.Rank, Size: r.Size, Job: failure.OneLine(r.Job),
		Host: failure.OneLine(host), PID: os.Getpid(), Origin: r.Clock.Origin().Round(0), Reason: failure.OneLine(reason)}}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Written = int64(time.Since(r.Clock.Origin()))
	waits := make(map[*Track][]int)
	for running := range r.running() {
		waits[running] = running.waits()
	}
	for _, e := range r.records() {
		t.Entries = append(t.Entries, e.entry(waits[e.track]))
	}
	t.Lost = r.made - uint64(len(t.Entries))
	return t
}

// records returns the records that are kept, in the order of their operations: those of the ring and, before them,
// those of running operations that left it. The recorder is locked.
func (r *Recorder) records() (all []*record) {
	for t := range r.running() {
		for i := range t.kept {
			all = append(all, &t.kept[i])
		}
		for i := range t.posted {
			if p := &t.posted[i].record; r.ring[p.number%uint64(len(r.ring))].number != p.number {
				all = append(all, p)
			}
		}
	}
	for i := range r.ring {
		if r.ring[i].track != nil {
			all = append(all, &r.ring[i])
		}
	}
	slices.SortFunc(all, func(a, b *record) int { return cmp.Compare(a.number, b.number) })
	return all[max(0, len(all)-trace.MaxEntries):]
}

// entry returns the entry for e, whose communicator waits for ranks. The recorder is locked.
func (e *record) entry(waiting []int) trace.Entry {
	t := e.track
	x := trace.Entry{Comm: failure.OneLine(t.Name), ID: t.ID, Rank: t.Rank, Size: t.Size, Seq: e.seq,
		Primitive: failure.OneLine(e.k.Name), Algorithm: failure.OneLine(e.a.Name), Type: e.elem.String(), Count: e.count,
		Root: int(e.root), Peer: int(e.peer), Depth: int(e.depth), Local: int(e.local),
		Start: int64(t.r.Clock.Elapsed(e.start)), State: t.state(e.number)}
	if e.k.Reduces {
		x.Op = wire.OpWords(e.op)
	}
	x.Label = e.label
	x.Bytes = e.bytes
	switch x.State {
	case trace.Running:
		x.Waiting = waiting
	case trace.Done:
		x.End = e.endTime(x.Start)
	case trace.Failed:
		x.End = e.endTime(x.Start)
		x.Error, x.Waiting, x.Blames = failure.OneLine(t.failure), t.blocked, t.blamed
	}
	return x
}

// endTime returns when e, which is over, ended: nanoseconds after the origin, and not before its start. 0: it is not
// known. The recorder is locked.
func (e *record) endTime(start int64) int64 {
	t, tick := e.track, e.end
	if e.number >= t.first && e.number <= t.last {
		tick = t.ended
	}
	if tick == 0 {
		return 0
	}
	return max(start, int64(t.r.Clock.Elapsed(tick)))
}

// saveTime is how long a failed call waits for its trace: long enough that the file is usually there if the program
// exits because of the error, and bounded in case the disk hangs.
const saveTime = time.Second

var errSaveTime = fmt.Errorf("not written after %v", saveTime)

// Save writes the rank's file because of err. Only the first Save does, and later ones wait for it: the program may
// exit afterwards.
func (t *Track) Save(err error) {
	if t == nil || t.r.Dir == "" {
		return
	}
	t.r.wrote.Do(func() {
		of, saved := t.r.trace(err.Error()), make(chan error, 1)
		go func() { saved <- t.r.save(of) }()
		var failed error
		select {
		case failed = <-saved:
		case <-time.After(saveTime):
			failed = errSaveTime
		}
		if failed != nil && t.r.Log != nil {
			t.r.Log.Warn("the flight recorder cannot be written", "error", failed)
		}
	})
}

// SaveSoon has the file written without waiting, for a failure that does not come from a call of this rank. If a call
// is running it is about to fail too, and saves the file with its own error.
func (t *Track) SaveSoon(err error) {
	if t == nil || t.r.Dir == "" {
		return
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if !t.r.closed && !t.isRunning() {
		t.r.writes.Go(func() { t.Save(err) })
	}
}

// writeFile writes the file under a temporary name first, so that it is never seen in part.
func (r *Recorder) writeFile(t *trace.Trace) (err error) {
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(r.Dir, ".rank-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err := errors.Join(t.Write(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(r.Dir, fmt.Sprintf("rank-%d.jsonl", r.Rank)))
}

// Close ends r when all communicators are closed, after the file that is being written.
func (r *Recorder) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.closed, r.timerSet = true, true
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Unlock()
	r.writes.Wait()
}
