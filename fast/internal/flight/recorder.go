// Package flight is the flight recorder of a rank. It keeps the last operations of all its communicators, writes them
// as a trace, and watches those that are in progress.
//
// It is always on. An operation costs one read of a cheap clock, and one lock, which is contended only while the
// records are read.
package flight

import (
	"log/slog"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/relatomic"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/tsc"
	"github.com/collgen/collgen/fast/trace"
	"github.com/collgen/collgen/spec"
)

// Config is what a Recorder is made with.
type Config struct {
	Rank, Size int    // of the process in its job
	Job        string // its name
	Operations int    // how many to keep, at most trace.MaxEntries
	Dir        string // where to write a file when a call fails for the first time; "": nowhere
	Log        *slog.Logger
	Slow       time.Duration // how long a call may make no progress before a warning; 0: DefaultSlow
	Interval   time.Duration // how often to look for calls without progress, if more often than usual; 0: as usual
	Clock      *tsc.Clock    // nil: a new one
}

// Recorder is the flight recorder of one rank. A nil Recorder records nothing.
type Recorder struct {
	Config
	save   func(*trace.Trace) error // writeFile, or that of a test
	wrote  sync.Once                // the file
	writes sync.WaitGroup           // in separate goroutines

	mu       relatomic.Mutex
	ring     []record
	made     uint64 // operations so far: number n, from 1, is at n modulo len(ring)
	at       int    // the place of the last one
	tracks   map[*Track]bool
	timer    *time.Timer // looks for calls without progress
	timerSet bool        // or not needed any more
	closed   bool
}

// record is one operation.
type record struct {
	track  *Track
	number uint64
	seq    uint64
	start  int64 // tick of the recorder's clock
	end    int64 // the same; 0: it runs, or it is one of those that ended last
	bytes  int   // of the larger of the rank's buffers
	signature
}

// signature is what is recorded of a call, and the same for all of one form.
type signature struct {
	k          *exec.Collective
	a          *exec.Algorithm
	count      int
	root, peer int32 // peer is -1 if all ranks take part
	depth      int32
	local      int32  // ranks on each host, where they make a difference to the algorithm
	op         uint32 // as ranks compare it
	elem       spec.Type
	label      string
}

// signatureOf returns the signature of p's calls.
func signatureOf(p *exec.Prepared) signature {
	peer := int32(-1)
	if p.Collective.PointToPoint {
		peer = int32(p.Args.Peer)
	}
	return signature{k: p.Collective, a: p.Algorithm, count: p.Args.Count, root: int32(p.Args.Root), peer: peer,
		depth: int32(p.Depth), local: int32(p.Local), op: p.Op(), elem: p.Type, label: p.Label()}
}

// Communicator is what a Recorder needs to know of a communicator.
type Communicator struct {
	ID         uint64
	Name       string
	Rank, Size int
	Transport  transport.Transport // nil: it has none
	// OnIdle is called, again and again, while a call has made no progress for half of Prompt; nil: nothing is.
	OnIdle func()
	// Conditions returns what is known of the state of ranks' processes, in words; nil, or returns nil: nothing.
	Conditions func(ranks []int) []string
	// OnSlow is called when a warning of a call without progress is due; nil: nothing is.
	OnSlow func(s *Slow)
}

// Track is what a Recorder knows of one communicator. A nil Track records nothing.
type Track struct {
	r *Recorder
	Communicator
	stall *Stall // found by the last look, if the communicator was stalled then

	signature  signature // of its latest operation
	generation uint64    // of the form that has it; 0: there is none

	// The numbers of its latest operation and of the first one that began together with it, under the recorder's lock.
	// All of them are over when done is the number of the last one.
	first, last uint64
	done        relatomic.Uint64
	ended       int64         // when they were over: a tick of the recorder's clock
	posted      []posted      // others in progress, or that were when one failed
	newest      uint64        // the number of its latest operation, posted or not
	failure     string        // why they failed
	blocked     []int         // the ranks that they were waiting for
	blamed      []int         // the ranks at fault, as far as the error says
	kept        []record      // those of them whose place in the ring was needed for others
	moved       uint64        // by its transport, when progress was checked last
	still       time.Duration // when progress was seen last, after the origin
	warned      time.Duration // how long there had been no progress at the last warning; 0: there was none
	waited      waited        // seen by the last look of Calls
}

// New returns a Recorder.
func New(c Config) *Recorder {
	if c.Slow <= 0 {
		c.Slow = DefaultSlow
	}
	if c.Clock == nil {
		c.Clock = tsc.NewClock()
	}
	r := &Recorder{Config: c, ring: make([]record, max(1, c.Operations)), tracks: make(map[*Track]bool)}
	r.save = r.writeFile
	return r
}

// Join has r record the operations of c until Leave.
func (r *Recorder) Join(c Communicator) *Track {
	if r == nil {
		return nil
	}
	t := &Track{r: r, Communicator: c}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tracks[t] = true
	return t
}

// Leave ends the recording. The records stay, and t with them, but t keeps nothing else of the communicator alive.
func (t *Track) Leave() {
	if t == nil {
		return
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.Transport, t.OnIdle, t.Conditions, t.OnSlow, t.stall = nil, nil, nil, nil, nil
	delete(t.r.tracks, t)
}

// Begin records that a call begins, together with those that began since the last end.
func (t *Track) Begin(p *exec.Prepared, seq uint64, bytes int) {
	r := t.r
	start := r.Clock.Now()
	r.mu.Lock()
	if t.done.Load() == t.last {
		if t.first == t.last && t.last == r.made { // as usual
			r.ring[r.at].end = t.ended
		} else {
			t.setEnds()
		}
		t.first, t.kept, t.warned = r.made+1, t.kept[:0], 0
	}
	t.last = r.made + 1
	t.add(p, seq, bytes, start)
	r.mu.Unlock()
}

// add adds a record of a call that begins. The recorder is locked.
func (t *Track) add(p *exec.Prepared, seq uint64, bytes int, start int64) *record {
	if g := p.Generation(); g != t.generation || g == 0 {
		t.signature, t.generation = signatureOf(p), g
	}
	r := t.r
	r.made++
	t.newest = r.made
	if r.at++; r.at == len(r.ring) {
		r.at = 0
	}
	place := &r.ring[r.at]
	if r.at+1 < len(r.ring) { // the next place: the ring is larger than the nearest cache
		relatomic.FetchTwo(&r.ring[r.at+1])
	}
	if other := place.track; other != t && other != nil {
		other.keep(place)
	}
	// The record is made in place, which is faster than copying it there.
	place.track, place.number, place.seq, place.start, place.end, place.bytes = t, r.made, seq, start, 0, bytes
	place.signature = t.signature
	if !r.timerSet {
		r.setTimer()
	}
	return place
}

// keep keeps a record that leaves the ring while its operation runs. The recorder is locked.
func (t *Track) keep(r *record) {
	if t.state(r.number) == trace.Running && t.indexOf(r.number) < 0 {
		t.kept = append(t.kept, *r)
	}
}

// End records that the calls that began last are over. Only the communicator's goroutine calls it.
func (t *Track) End() {
	if t != nil {
		t.ended = t.r.Clock.Now()
		t.done.Store(t.last)
	}
}

// setEnds writes into the records of the calls that ended last when they did, before others begin. The recorder is
// locked.
func (t *Track) setEnds() {
	for n := t.first; n <= t.last; n++ {
		t.setEnd(n, t.ended)
	}
}

// setEnd writes into the record of an operation, if it is still there, when it ended. The recorder is locked.
func (t *Track) setEnd(number uint64, tick int64) {
	if r := &t.r.ring[number%uint64(len(t.r.ring))]; r.number == number && r.track == t {
		r.end = tick
	}
}

// Fail records that these calls, if there are any, failed with err while they were waiting for ranks, and which ranks
// err blames.
func (t *Track) Fail(err error, waiting, blames []int) {
	if t == nil {
		return
	}
	t.r.mu.Lock()
	if t.isRunning() {
		t.failure, t.blocked, t.blamed = err.Error(), waiting, blames
		for now, i := t.r.Clock.Now(), 0; i < len(t.posted); i++ {
			t.setEnd(t.posted[i].number, now)
		}
	}
	t.r.mu.Unlock()
	t.End()
}

// state returns the state of the operation with that number. The recorder is locked.
func (t *Track) state(number uint64) string {
	switch isPosted := t.indexOf(number) >= 0; {
	case !isPosted && (number < t.first || number > t.last):
	case isPosted && t.failure == "" || t.done.Load() < t.last:
		return trace.Running
	case t.failure != "":
		return trace.Failed
	}
	return trace.Done
}

// find returns the record of an operation of t that is in progress. The recorder is locked.
func (t *Track) find(number uint64) (record, bool) {
	if r := t.r.ring[number%uint64(len(t.r.ring))]; r.number == number && r.track == t {
		return r, true
	}
	for _, r := range t.kept {
		if r.number == number {
			return r, true
		}
	}
	return record{}, false
}
