package simtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"math/rand/v2"
	"net"
	"runtime/debug"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/simnet"
	"github.com/collgen/collgen/fast/internal/tcp"
	"github.com/collgen/collgen/fast/internal/transport"
)

// simulation is a job on simulated links, under the clock of synctest: everything is as in a job over TCP, but for the
// handshakes, and for the system's sockets.
type simulation struct {
	scenario
	processes []*simnet.Process
	control   [][]*simnet.End // [i][j] is i's end of the link to j
	results   []result        // by process

	mu        sync.Mutex
	made      map[[3]uint64]bool        // data links: communicator, lower and higher process
	ends      map[[3]uint64]*simnet.End // communicator, process, other process; not yet attached
	endpoints map[[2]uint64]*attachable // communicator, process
	data      []*simnet.End             // one end of each data link
	worlds    []access.World            // by process
}

// attachable is a rank's transport, which knows its peers by rank.
type attachable struct {
	*tcp.Endpoint
	members []int
}

// result is what a process has found out.
type result struct {
	failure error    // of the first call that failed
	rounds  []agreed // in which all that are left agree on who that is
	left    uint64   // a bit for each process that a communicator of those that are left was used with at last
	err     error    // why there is none
	panics  string   // with what, and where
}

// agreed is the result of one Agree.
type agreed struct {
	flags uint64
	gone  []int // ranks
}

// simulatedFreeze is after how long a process of a simulation is taken for dead.
const simulatedFreeze = 500 * time.Millisecond

// newSimulation returns a job whose processes are connected.
//
// A test may give each process another plane than its mesh.
func newSimulation(s scenario, planes func(process int, m control.Plane) control.Plane) (*simulation, error) {
	x := &simulation{scenario: s, processes: make([]*simnet.Process, s.size), results: make([]result, s.size),
		made: map[[3]uint64]bool{}, ends: map[[3]uint64]*simnet.End{}, endpoints: map[[2]uint64]*attachable{}}
	wires := make([][]net.Conn, s.size)
	control := s.weather
	control.Capacity = max(control.Capacity, 64<<10) // as the least that systems give
	for i := range s.size {
		x.processes[i], wires[i] = new(simnet.Process), make([]net.Conn, s.size)
		x.control = append(x.control, make([]*simnet.End, s.size))
		for j := range i {
			x.control[i][j], x.control[j][i] = simnet.NewLink(x.processes[i], x.processes[j], control, s.seed,
				uint64(i*s.size+j))
			wires[i][j], wires[j][i] = x.control[i][j].Conn(), x.control[j][i].Conn()
		}
	}
	for i := range s.size {
		m, err := mesh.Wired(mesh.Config{Identity: secure.Identity{Job: "simulated", Epoch: 1, Process: i, Size: s.size},
			Credentials: secure.FromSecret(secure.Secret{1}), Host: "simulated",
			HeartbeatTimeout: simulatedFreeze}, wires[i], x.processes[i].Pass)
		if err != nil {
			return nil, err
		}
		x.worlds = append(x.worlds, x.world(i, planes(i, m)))
	}
	return x, nil
}

func (x *simulation) world(process int, m control.Plane) access.World {
	return access.World{Plane: m,
		Create: func(ctx context.Context, id uint64, rank int, members []int) (transport.Transport, error) {
			f := &setup.Group{Plane: m, ID: id, Rank: rank, Members: members}
			ctx, stop := f.Watched(ctx)
			defer stop()
			e := x.endpoint(id, process, rank, members)
			if err := f.Decide(ctx, nil); err != nil {
				return nil, errors.Join(err, e.Close())
			}
			return e, nil
		},
		Record: flight.New(flight.Config{Rank: process, Size: x.size, Job: "simulated", Operations: 8,
			Log: slog.New(slog.DiscardHandler)}),
	}
}

// first makes the first communicator of a process.
func (x *simulation) first(process int) (*fast.Comm, error) {
	c, err := access.Fast.FirstComm(context.Background(), x.size, x.worlds[process])
	if err != nil {
		return nil, err
	}
	return c.(*fast.Comm), nil
}

// endpoint returns a rank's transport. Its links come a while after either rank has asked for them.
func (x *simulation) endpoint(id uint64, process, rank int, members []int) *tcp.Endpoint {
	e := tcp.NewSimulated(rank, len(members), func(peer int) {
		time.AfterFunc(x.weather.Delay, func() { x.connect(id, process, members[peer]) })
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	a := &attachable{e, members}
	x.endpoints[[2]uint64{id, uint64(process)}] = a
	for key, end := range x.ends {
		if key[0] == id && key[1] == uint64(process) {
			a.attach(int(key[2]), end)
		}
	}
	return e
}

// attach does not wait: an endpoint that is closed says its last word on the link, which takes time, and whoever waits
// for a mutex meanwhile stops the clock.
func (a *attachable) attach(process int, end *simnet.End) {
	go a.AttachSimulated(slices.Index(a.members, process), end.Socket())
}

// connect makes the link between two processes of a communicator, unless there is one.
func (x *simulation) connect(id uint64, a, b int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a, b = min(a, b), max(a, b)
	key := [3]uint64{id, uint64(a), uint64(b)}
	if x.made[key] {
		return
	}
	x.made[key] = true
	one, other := simnet.NewLink(x.processes[a], x.processes[b], x.weather, x.seed^id, uint64(a*x.size+b))
	x.data = append(x.data, one)
	x.hand(id, a, b, one)
	time.AfterFunc(x.lag, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.hand(id, b, a, other)
	})
}

// hand gives one end of a link to its process, when that has come so far.
func (x *simulation) hand(id uint64, to, other int, end *simnet.End) {
	if a := x.endpoints[[2]uint64{id, uint64(to)}]; a != nil {
		a.attach(other, end)
	} else {
		x.ends[[3]uint64{id, uint64(to), uint64(other)}] = end
	}
}

// run carries the scenario out. It is false if that does not end.
func (x *simulation) run() (ended bool) {
	founded := make(chan struct{})
	var founding, lasting, others sync.WaitGroup
	for process := range x.size {
		founding.Add(1)
		ranks := &lasting
		if slices.ContainsFunc(x.faults, func(f fault) bool {
			return f.process == process &&
				(f.kind == crashes || f.kind == stops)
		}) {
			ranks = &others
		}
		ranks.Go(func() {
			defer x.survive(process)
			c, err := x.first(process)
			x.results[process].err = err
			founding.Done()
			if <-founded; err == nil {
				x.play(process, c)
				_ = c.Close()
			}
		})
	}
	if !x.await(&founding) {
		return false
	}
	close(founded)
	var timers []*time.Timer
	for _, f := range x.faults {
		timers = append(timers, time.AfterFunc(f.at, func() { f.strike(x) }))
	}
	ended = x.await(&lasting)
	for _, timer := range timers {
		timer.Stop()
	}
	synctest.Wait()                 // until those have struck that were about to
	for _, p := range x.processes { // so that the goroutines of those that have crashed, or were stopped, end too
		p.Continue()
	}
	return x.await(&others) && ended
}

// survive is the end of a process, which may be a panic: others go on then, so that its seed is told.
func (x *simulation) survive(process int) {
	if v := recover(); v != nil {
		x.results[process].panics = fmt.Sprintf("%v\n%s", v, debug.Stack())
	}
	_ = x.worlds[process].Plane.Close()
}

// await waits until all of some are done. It is false if they are not in time.
func (x *simulation) await(ranks *sync.WaitGroup) bool {
	over := make(chan struct{})
	go func() { ranks.Wait(); close(over) }()
	select {
	case <-over:
		return true
	case <-time.After(simulatedEnd):
		return false
	}
}

// simulatedEnd is after how long all has ended in every simulation.
const simulatedEnd = time.Hour

// play is a process's program: calls until one fails, and then with those that are left what the manual says.
func (x *simulation) play(process int, c *fast.Comm) {
	r := &x.results[process]
	for k, call := range x.calls {
		if r.failure = x.attempt(process, c, k, call); r.failure != nil {
			break
		}
	}
	before := r.failure
	for {
		// one that is slow may make its last call for long
		ctx, cancel := context.WithTimeout(context.Background(), simulatedEnd/4)
		flags, err := c.Agree(ctx, b2u(before == nil))
		if gone := fasttest.PeersIn[*fast.CallError](err); err == nil || len(gone) > 0 {
			r.rounds = append(r.rounds, agreed{flags, x.worldRanks(c, gone)})
		} else {
			r.err = err
		}
		if cancel(); r.err != nil || flags&1 == 1 && err == nil {
			return
		}
		next, err := c.Shrink(context.Background())
		if err != nil {
			r.err = err
			return
		}
		defer next.Close()
		c = next
		left := []uint64{1 << process}
		if before = fast.AllReduce(context.Background(), c, left, fast.Sum); before == nil {
			r.left = left[0]
		}
	}
}

func (x *simulation) worldRanks(c *fast.Comm, ranks []int) (processes []int) {
	for _, rank := range ranks {
		processes = append(processes, access.Fast.ProcessOf(c, rank))
	}
	return processes
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// errWrong is a result that a call has returned without an error.
var errWrong = errors.New("wrong result")

// attempt makes the kth call and checks its result.
func (x *simulation) attempt(process int, c *fast.Comm, k int, call simulatedCall) error {
	ctx := context.Background()
	if at, ok := x.patience[[2]int{k, process}]; ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, at)
		defer cancel()
	}
	buf, want := call.operands(k, c.Rank(), c.Size())
	if err := call.do(ctx, c, buf); err != nil {
		return err
	}
	for i := range want {
		if buf[i] != want[i] {
			return fmt.Errorf("%w: call %d, %+v: element %d is %d, want %d", errWrong, k, call, i, buf[i], want[i])
		}
	}
	return nil
}

// scenario is what a seed stands for.
type scenario struct {
	seed    uint64
	size    int
	weather simnet.Weather
	// a link is there for its higher rank so much later than for the other one, as after a handshake
	lag      time.Duration
	calls    []simulatedCall
	patience map[[2]int]time.Duration // of a call, by its number and the process
	faults   []fault
}

// fault is something that befalls the job.
type fault struct {
	kind    string
	at      time.Duration
	process int
	other   int
	lasts   time.Duration
	reset   func() bool
}

// The kinds of faults.
const (
	crashes    = "crashes"
	stops      = "stops for good"
	hesitates  = "stops for a moment" // too short to be taken for dead
	oversleeps = "stops for too long"
	breaks     = "breaks the data link" // to other
	parts      = "breaks the control link"
	slow       = "is slow"
	corrupts   = "changes a bit of what it sends to each other one" // what no job has to survive
)

func (f *fault) strike(x *simulation) {
	p := x.processes[f.process]
	switch f.kind {
	case crashes:
		p.Crash(f.reset)
	case stops:
		p.Stop()
	case hesitates, oversleeps:
		p.Stop()
		time.AfterFunc(f.lasts, p.Continue)
	case breaks:
		x.mu.Lock()
		if len(x.data) > 0 {
			defer x.data[f.other%len(x.data)].Reset()
		}
		x.mu.Unlock()
	case parts:
		x.control[f.process][(f.process+1+f.other%(x.size-1))%x.size].Reset()
	case corrupts:
		x.mu.Lock()
		defer x.mu.Unlock()
		for _, end := range x.data {
			end.Corrupt()
		}
	case slow:
		p.Delay(f.lasts)
	}
}

// newScenario draws one.
func newScenario(seed uint64) (s scenario) {
	r := rand.New(rand.NewPCG(seed, 1))
	s = scenario{seed: seed, size: 2 + r.IntN(4), patience: map[[2]int]time.Duration{}}
	s.weather = simnet.Weather{Delay: time.Duration(1 + r.IntN(1<<uint(10+r.IntN(15)))), Capacity: 1 << uint(6+r.IntN(12)),
		Pieces: r.IntN(4) > 0}
	s.lag = time.Duration(rand.New(rand.NewPCG(seed, 300)).Int64N(int64(20 * s.weather.Delay)))
	for range 1 + r.IntN(6) {
		s.calls = append(s.calls, drawCall(r, s.size))
	}
	// what was drawn of a seed before there was this stays
	if more := rand.New(rand.NewPCG(seed, 200)); more.IntN(3) == 0 {
		defer func() { s.calls = append(s.calls, simulatedCall{name: "Pass", count: more.IntN(1 << 10)}) }()
	}
	expected := s.weather.Delay * time.Duration(10*len(s.calls)*bits.Len(uint(s.size)))
	if r.IntN(8) == 0 {
		s.patience[[2]int{r.IntN(len(s.calls)), r.IntN(s.size)}] = 1 + time.Duration(r.Int64N(int64(expected)))
	}
	for i := range []int{0, 1, 1, 1, 1, 2, 3}[r.IntN(7)] {
		chance := rand.New(rand.NewPCG(seed, uint64(100+i)))
		f := fault{kind: []string{crashes, crashes, stops, hesitates, oversleeps, breaks, parts, slow}[r.IntN(8)],
			at: time.Duration(r.Int64N(int64(expected))), process: r.IntN(s.size), other: r.IntN(64),
			reset: func() bool { return chance.IntN(2) == 0 }}
		switch f.kind {
		case hesitates:
			f.lasts = time.Duration(r.Int64N(int64(simulatedFreeze / 3)))
		case oversleeps:
			f.lasts = 2*simulatedFreeze + time.Duration(r.Int64N(int64(simulatedFreeze*8)))
		case slow:
			f.lasts = time.Duration(r.Int64N(int64(simulatedFreeze / 250)))
		}
		s.faults = append(s.faults, f)
	}
	return s
}

func drawCall(r *rand.Rand, size int) simulatedCall {
	c := simulatedCall{name: simulatedCalls[r.IntN(len(simulatedCalls))],
		count: r.IntN(1 << uint(r.IntN(11))), root: r.IntN(size)}
	all := access.Fast.Collectives()
	i := slices.IndexFunc(all, func(k *exec.Collective) bool { return k.Name == c.name })
	if i < 0 { // a send and a receive
		return c
	}
	k := all[i]
	if a := &k.Algorithms[r.IntN(len(k.Algorithms))]; r.IntN(2) == 0 && a.Carries(size, 0, fast.Sum) {
		c.options = []fast.Option{fast.WithAlgorithm(a.Name)}
	}
	return c
}
