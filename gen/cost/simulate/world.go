package simulate

import (
	"iter"
	"math"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// world is the state of one simulation: a machine, and the ranks of a call.
type world struct {
	m    *Machine
	call Call
	cuts gen.Cuts

	near, far    tariff
	copy, reduce float64 // per byte

	calling, switching, spin Time

	now      Time
	agenda   agenda
	onHost   int // ranks
	fold     folding
	began    func(r int32) // if not nil, is called when a rank begins a step
	ranks    []rank
	hosts    []host
	cores    []core
	links    []link
	messages pool[message]
	segments pool[segment]
	open     map[pair]line // messages of which one end alone is there
	rings    map[pair]*ring
	touched  queue[int32] // cores that may have something to do

	sent, received, bytes int
}

// tariff is what a message costs on one kind of way, in one call.
type tariff struct {
	alpha, overhead       Time
	link, put, take, fold float64 // per byte
	lend                  int
	share                 bool
}

func (p *Path) tariff(footprint float64) tariff {
	return tariff{ofSeconds(p.Alpha), ofSeconds(p.Overhead), p.Link, p.Put.At(footprint), p.Take.At(footprint),
		p.Fold.At(footprint), p.Lend, p.Share}
}

// touch has settle look after a core.
func (w *world) touch(c int32) {
	if !w.cores[c].touched {
		w.cores[c].touched = true
		w.touched.push(c)
	}
}

// Call is what is played: so many calls of one collective, one behind the other, on all ranks from the same moment on.
type Call struct {
	Algorithm *gen.Algorithm
	gen.Params
	Block   int  // bytes in a block
	InPlace bool // In and Out are the same memory where they may be: nothing is copied from one to the other
	Repeat  int  // 0 is 1

	// Progress, if not nil, is called now and then with the number of messages that have arrived and the simulated time.
	Progress func(messages int, now Time)
}

// Blocks returns how many blocks the larger of a rank's two buffers has, at least 1.
func (c *Call) Blocks() int {
	blocks := 1
	for _, b := range []spec.Buffer{c.Algorithm.Primitive.In, c.Algorithm.Primitive.Out} {
		if n, err := b.Blocks.OrElse(spec.Int(0)).Eval(c.Env(c.Root)); err == nil {
			blocks = max(blocks, n)
		}
	}
	return blocks
}

// Usage is how long something was busy.
type Usage struct {
	What string // "core 0 of host 3"
	Busy Time
}

// maxBuffer is the longest buffer of a rank, in bytes: what all messages together have is then still a number.
const maxBuffer = min(1<<38, math.MaxInt)

// program is what one rank does, step by step.
type program = iter.Seq2[[]gen.Instr, error]

// host is the cores that some ranks share: rank i of it stays on core i modulo their number.
type host struct{ first, cores int32 }

// core does one thing at a time, for one of its ranks. When that one has nothing to do, it goes round to the next one
// that has something.
type core struct {
	host, first, stride, ranks int32 // its ranks are first, first+stride and so on
	turn                       int32 // which of them it is with
	passes                     int32 // to how many ranks it has gone since it worked last
	ready                      int32 // how many of them have something to do
	used, works, touched       bool
	lingers                    bool   // its rank has nothing to do, and keeps it for a while
	until                      Time   // how long it lingers
	free                       moment // when it has finished what it is at
	busy                       Time
	at                         work
}

// work is something that a rank has a core do.
type work struct {
	kind workKind
	of   int32 // the message or segment
}

type workKind uint8

const (
	putting workKind = iota // the next segment of a message, where it leaves from
	taking                  // a segment that has arrived
	locally                 // the local actions of a step
)

// coresFor returns how many cores serve so many ranks of a host.
func coresFor(m *Machine, ranks int) int {
	if m.Cores == 0 {
		return ranks
	}
	return min(ranks, m.Cores)
}

// rankOf returns the rank whose turn it is on a core.
func (c *core) rankOf(turn int32) int32 { return c.first + turn*c.stride }

// give gives a rank something to do.
func (w *world) give(r int32, x work) {
	k := &w.ranks[r]
	if k.work.empty() {
		w.cores[k.core].ready++
		w.touch(k.core)
	}
	k.work.push(x)
}

// rank is one rank in its program.
type rank struct {
	host, core int32
	calling    bool  // it has begun a call that it has not paid for
	beside     int32 // messages that it waits for from ranks of its core
	done       bool
	work       queue[work]
	free       moment // when the last thing was done that a core did for it

	programs func() (step func() ([]gen.Instr, error, bool), stop func())
	next     func() ([]gen.Instr, error, bool)
	stop     func()
	calls    int // behind this one

	step            int    // counted through all calls
	begun, last     moment // when the step began, and the latest of what it has done
	pending         int    // its messages that are not done
	copied, reduced int    // bytes, in its local actions
}

// message returns how many bytes in sends or receives, if it does and they are not left out: without bytes there is no
// message, unless it is a signal.
func (w *world) message(in *gen.Instr) (bytes int, ok bool) {
	place := in.Dst
	switch in.Kind {
	case gen.SendInstr:
		place = in.Srcs[0]
	case gen.RecvInstr, gen.RecvReduceInstr:
	default:
		return 0, false
	}
	bytes = w.cuts.Len(place)
	return bytes, bytes > 0 || place.Buf == ""
}

// pair is two ranks in one direction, of which the sender is one that is played. Messages between them meet their
// receives in order.
type pair struct{ from, to int32 }

// message is one on its way, or the one end of it that is there.
type message struct {
	pair
	bytes        int
	sent, posted bool // whether the one end is there, and the other
	folds, lent  bool // what its receive does with it
	shared       bool // it is put already, for another rank
	put, taken   int  // segments that have left, and that the receiver is done with
	waiting      []int32
	left         moment
	next         int32 // in its line
}

// segment is a part of a message on its way.
type segment struct {
	message    int32
	bytes      int
	first      bool
	hop        int    // links behind it
	head, tail moment // when it comes to where it is on its way to: its first byte and its last one
}

// line is messages of a pair, of which one and the same end is there, in order.
type line struct{ first, last int32 }

// segmentsOf is into how many segments a message is cut.
func (w *world) segmentsOf(m *message) int {
	return min(max(1, (m.bytes-1)/w.m.Segment+1), maxSegments)
}

// segmentBytes returns how long segment i of m is: the first ones are longer by one where it does not come out even.
func (w *world) segmentBytes(m *message, i int) int {
	n := w.segmentsOf(m)
	if i < m.bytes%n {
		return m.bytes/n + 1
	}
	return m.bytes / n
}

func (w *world) tariffOf(p pair) *tariff {
	if w.hostOf(p.from) == w.hostOf(p.to) {
		return &w.near
	}
	return &w.far
}

// ring is the memory between two ranks of a host, in one direction: messages go through it one after the other, and a
// segment leaves when its receiver is done with it.
type ring struct {
	waiting queue[int32] // messages that have more segments to put, in order
	busy    bool         // the sender is to put a segment of the first one
	full    int          // segments that are in it
	room    moment       // when a segment left it last
}

// ringOf returns the ring of p; nil: what goes there needs none.
func (w *world) ringOf(p pair) *ring {
	if w.m.Ring == 0 || w.tariffOf(p) == &w.far {
		return nil
	}
	g := w.rings[p]
	if g == nil {
		g = &ring{}
		w.rings[p] = g
	}
	return g
}

// link carries segments, first come, first served, one after the other, each from when its first byte is there.
type link struct {
	free moment // when it has carried all that came to it
	busy Time
}

func (w *world) racks() int {
	if w.m.HostsPerRack == 0 {
		return 1
	}
	return (len(w.hosts)-1)/w.m.HostsPerRack + 1
}

func (w *world) rackOf(host int32) int {
	if w.m.HostsPerRack == 0 {
		return 0
	}
	return int(host) / w.m.HostsPerRack
}
