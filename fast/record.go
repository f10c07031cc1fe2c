package fast

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"

	"github.com/collgen/collgen/fast/internal/relatomic"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/tsc"
	"github.com/collgen/collgen/spec"
)

// The flight recorder keeps the last operations of all communicators of a rank. It is always on: an operation costs it
// one look at a cheap clock and one lock, which nobody else holds but who reads the records. Trace is the format in
// which they are written.

// recorded is how many operations are kept of one process.
const recorded = 4096

// recording is what a recorder is made with.
type recording struct {
	rank, size int    // of the process in its job
	job        string // its name
	operations int    // how many to keep
	dir        string // where to write a file when a call fails for the first time; "": nowhere
	log        *slog.Logger
	slow       time.Duration // how long a call makes no progress before it is warned of; 0: slowCall
	times      limits        // of the search for deadlocks
	clock      *tsc.Clock    // nil: a new one
}

// recorder is the flight recorder of one rank and what watches over its calls.
type recorder struct {
	recording
	save   func(*Trace) error // writeFile, or that of a test
	wrote  sync.Once          // the file
	writes sync.WaitGroup     // in goroutines of their own

	mu     relatomic.Mutex
	ring   []record
	made   uint64 // operations so far: number n, from 1, is at n modulo len(ring)
	at     int    // that of the last one
	tracks map[*track]bool
	timer  *time.Timer // looks for slow calls
	looks  bool        // it will, or never has to
	over   bool        // all communicators are closed
}

// record is one operation.
type record struct {
	track      *track
	number     uint64
	k          *exec.Collective
	a          *exec.Algorithm
	seq        uint64
	start      int64 // tick of the recorder's clock
	count      int
	root, peer int32 // peer is -1 if all ranks take part
	depth      int32
	op         spec.Op
	elem       spec.Type
}

// track is what a recorder knows of one communicator.
type track struct {
	*recorder
	id         uint64
	name       string
	rank, size int
	transport  transport.Transport // nil: it is closed, or has none
	detector   *detector           // nil: it is closed, or has no control plane
	stood      *waitState          // when it was looked at last, if it stood still

	// The numbers of its latest operation and of the first one that began together with it, under the recorder's lock.
	// All of them are over when done is the number of the last one.
	first, last uint64
	done        relatomic.Uint64
	failure     string        // why these failed
	blocked     []int         // for which ranks they were waiting
	blamed      []int         // and whose fault it is, as far as the error says
	kept        []record      // those of them that had to leave the ring for others'
	moved       uint64        // of its transport, when it was looked for slow calls last
	still       time.Duration // when it was seen last that something had moved, after the origin
	warned      time.Duration // for how long nothing had when it was warned of them last; 0: never
}

func newRecorder(r recording) *recorder {
	if r.slow <= 0 {
		r.slow = slowCall
	}
	r.times = r.times.orUsual()
	if r.clock == nil {
		r.clock = tsc.NewClock()
	}
	ring := make([]record, max(1, r.operations))
	made := &recorder{recording: r, ring: ring, tracks: make(map[*track]bool)}
	made.save = made.writeFile
	return made
}

// join has r record the operations of c, until leave. A Comm without a recorder has no track.
func (r *recorder) join(c *Comm) *track {
	if r == nil {
		return nil
	}
	t := &track{recorder: r, id: c.id, name: c.name, rank: c.rank, size: c.size, transport: c.exec.Transport}
	if c.world != nil && c.exec.Transport != nil {
		c.detector = &detector{comm: c, track: t}
		t.detector = c.detector
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tracks[t] = true
	return t
}

// leave ends the recording of a communicator. Its records stay, and with them t, which lets go of all else.
func (t *track) leave() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.transport, t.detector, t.stood = nil, nil, nil
	delete(t.tracks, t)
}

// Begin records that a call begins, together with those that began since the last end.
func (t *track) Begin(f *exec.Form, seq uint64) {
	peer := int32(-1)
	if f.Collective.PointToPoint {
		peer = int32(f.Args.Peer)
	}
	start := t.clock.Now()
	t.mu.Lock()
	t.made++
	if t.done.Load() == t.last {
		t.first, t.kept, t.warned = t.made, t.kept[:0], 0
	}
	t.last = t.made
	if t.at++; t.at == len(t.ring) {
		t.at = 0
	}
	place := &t.ring[t.at]
	if t.at+1 < len(t.ring) { // the one after it is not in the nearest cache, which the ring is larger than
		relatomic.Fetch(&t.ring[t.at+1].track)
		relatomic.Fetch(&t.ring[t.at+1].elem)
	}
	if other := place.track; other != t && other != nil {
		other.keep(place)
	}
	// It is made where it lies, which takes less time than to copy it.
	place.track, place.number, place.k, place.a, place.seq, place.start, place.count = t, t.made, f.Collective, f.Algorithm, seq, start, f.Args.Count
	place.root, place.peer, place.depth, place.op, place.elem = int32(f.Args.Root), peer, int32(f.Depth), f.Args.Op, f.Type
	if !t.looks {
		t.look()
	}
	t.mu.Unlock()
}

// keep keeps a record that leaves the ring while its operation runs. The recorder is locked.
func (t *track) keep(r *record) {
	if t.state(r.number) == TraceRunning {
		t.kept = append(t.kept, *r)
	}
}

// End records that the calls that began last are over. Only the communicator's own goroutine calls it.
func (t *track) End() {
	if t != nil {
		t.done.Store(t.last)
	}
}

// fail records that they failed with err, if there are any: what a rank sends to itself is not recorded.
func (t *track) fail(err error) {
	if t == nil || t.done.Load() == t.last {
		return
	}
	t.mu.Lock()
	t.failure, t.blocked, t.blamed = err.Error(), waitedFor(err), t.atFault(err)
	t.mu.Unlock()
	t.End()
}

// waitedFor returns the ranks that err says a call was waiting for.
func waitedFor(err error) []int {
	var call *CallError
	if errors.As(err, &call) {
		return call.Waiting
	}
	return nil
}

// atFault returns the rank that err says is at fault, if it says so: that of the track if it has ended the communicator
// itself.
func (t *track) atFault(err error) []int {
	var peer *PeerError
	var mismatch *MismatchError
	var deadlock *DeadlockError
	switch {
	case errors.As(err, &deadlock):
		return deadlock.Ranks
	case errors.As(err, &peer):
		return []int{peer.Rank}
	case errors.As(err, &mismatch):
		return []int{mismatch.Rank}
	case errors.Is(err, ErrAborted), errors.Is(err, ErrClosed), errors.Is(err, errPanicked):
		return []int{t.rank}
	}
	return nil
}

// state returns the state of an operation with that number. The recorder is locked.
func (t *track) state(number uint64) string {
	switch {
	case number < t.first:
	case t.done.Load() < t.last:
		return TraceRunning
	case t.failure != "":
		return TraceFailed
	}
	return TraceDone
}
