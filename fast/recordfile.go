package fast

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/wire"

	"github.com/collgen/collgen/fast/internal/fork"
)

// WriteTrace writes what the flight recorder of this rank has kept, of all its communicators, as a Trace. It may be
// called from any goroutine, also while calls run. A Comm that neither Run nor Init made has no recorder, and refuses.
func (c *Comm) WriteTrace(w io.Writer) error {
	if c == nil || c.track == nil {
		return wire.Refuse("WriteTrace", "the communicator has no flight recorder")
	}
	if fork.Child() { // before locks, which another thread may have held at the fork
		return c.refusedError("WriteTrace", ErrForked)
	}
	return c.track.trace("on demand").write(w)
}

// trace returns what r has kept.
func (r *recorder) trace(reason string) *Trace {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	t := &Trace{TraceHeader: TraceHeader{Format: TraceFormat, Rank: r.rank, Size: r.size, Job: plainText(r.job),
		Host: plainText(host), PID: os.Getpid(), Origin: r.clock.Origin().Round(0), Reason: plainText(reason)}}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Written = int64(time.Since(r.clock.Origin()))
	waits := make(map[*track][]int)
	for running := range r.running() {
		waits[running] = running.waits()
	}
	for _, e := range r.records() {
		t.Entries = append(t.Entries, e.entry(waits[e.track]))
	}
	t.Lost = r.made - uint64(len(t.Entries))
	return t
}

// records returns the records that are kept, in the order of their operations: those of the ring, and before them those
// that had to leave it though their operations run. The recorder is locked.
func (r *recorder) records() (all []*record) {
	for t := range r.running() {
		for i := range t.kept {
			all = append(all, &t.kept[i])
		}
	}
	for i := range r.ring {
		if r.ring[i].track != nil {
			all = append(all, &r.ring[i])
		}
	}
	slices.SortFunc(all, func(a, b *record) int { return cmp.Compare(a.number, b.number) })
	return all[max(0, len(all)-recorded):]
}

// entry returns e in the words of a trace; its communicator waits for ranks. The recorder is locked.
func (e *record) entry(waiting []int) TraceEntry {
	t := e.track
	x := TraceEntry{Comm: plainText(t.name), ID: t.id, Rank: t.rank, Size: t.size, Seq: e.seq, Primitive: plainText(e.k.Name),
		Algorithm: plainText(e.a.Name), Type: e.elem.String(), Count: e.count, Root: int(e.root), Peer: int(e.peer),
		Depth: int(e.depth), Start: int64(t.clock.Elapsed(e.start)), State: t.state(e.number)}
	if e.k.Reduces {
		x.Op = e.op.String()
	}
	switch x.State {
	case TraceRunning:
		x.Waiting = waiting
	case TraceFailed:
		x.Error, x.Waiting, x.Blames = plainText(t.failure), t.blocked, t.blamed
	}
	return x
}

// plainText returns s on one line, and not too long.
func plainText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return s[:min(len(s), failure.MaxText)]
}

// write writes t as lines of JSON.
func (t *Trace) write(w io.Writer) error {
	buf := bufio.NewWriter(w)
	lines := json.NewEncoder(buf)
	if err := lines.Encode(t.TraceHeader); err != nil {
		return err
	}
	for i := range t.Entries {
		if err := lines.Encode(&t.Entries[i]); err != nil {
			return err
		}
	}
	return buf.Flush()
}

// saving is how long a call that failed waits for its trace: a program that ends because of the error has it then, and
// a disk that hangs does not hold up the error.
const saving = time.Second

var errSaving = fmt.Errorf("it is not written after %v", saving)

// keepTrace writes the rank's file, once, because of err.
func (t *track) keepTrace(err error) {
	if t == nil || t.dir == "" {
		return
	}
	t.wrote.Do(func() {
		kept, saved := t.trace(err.Error()), make(chan error, 1)
		go func() { saved <- t.save(kept) }()
		var failed error
		select {
		case failed = <-saved:
		case <-time.After(saving):
			failed = errSaving
		}
		if failed != nil && t.log != nil {
			t.log.Warn("the flight recorder cannot be written", "error", failed)
		}
	})
}

// keepTraceSoon is keepTrace for a failure that comes from elsewhere, and for those who must not wait for a disk. A
// call that runs is about to fail too: then the file is written, and tells so.
func (t *track) keepTraceSoon(err error) {
	if t == nil || t.dir == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over && t.done.Load() == t.last {
		t.writes.Go(func() { t.keepTrace(err) })
	}
}

// writeFile writes the file under another name first, so that there is never a part of it.
func (r *recorder) writeFile(t *Trace) (err error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(r.dir, ".rank-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err := errors.Join(t.write(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(r.dir, fmt.Sprintf("rank-%d.jsonl", r.rank)))
}

// close ends the recorder when all communicators are closed.
func (r *recorder) close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.over, r.looks = true, true // no more
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Unlock()
	r.writes.Wait()
}
