package simtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/wire"
)

// judge returns what was not as it has to be: it ends; what a call returns without an error is right; all that are left
// agree on who has failed, name it, and go on without it.
func (x *simulation) judge(ended bool) (faults []string) {
	complain := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if !ended {
		complain("it has not ended after %v", simulatedEnd)
	}
	for process, r := range x.results {
		if r.panics != "" {
			complain("process %d panics: %s", process, r.panics)
		}
		if errors.Is(r.failure, errWrong) {
			complain("process %d: %v", process, r.failure)
		}
		if len(x.faults) == 0 && len(x.patience) == 0 && (r.failure != nil || r.err != nil) {
			complain("process %d: nothing has happened, and it fails: %v, %v", process, r.failure, r.err)
		}
	}
	if x.has(parts) { // which may cut the job into pieces
		x.judgePieces(complain)
	} else {
		x.judgeAgreement(complain)
	}
	if len(x.faults) == 1 && len(x.patience) == 0 && (x.has(crashes) || x.has(stops)) {
		x.judgeNames(complain)
	}
	return faults
}

// has reports whether there is a fault of a kind.
func (x *simulation) has(kind string) bool {
	return slices.ContainsFunc(x.faults, func(f fault) bool { return f.kind == kind })
}

// sound returns the processes that nothing has befallen which others may take for death.
func (x *simulation) sound() (processes []int) {
	for process := range x.size {
		if !slices.ContainsFunc(x.faults, func(f fault) bool {
			return f.process == process && slices.Contains([]string{crashes, stops, oversleeps}, f.kind)
		}) {
			processes = append(processes, process)
		}
	}
	return processes
}

// judgeAgreement: whoever has a result has the same; who is sound goes on, with all that are.
func (x *simulation) judgeAgreement(complain func(string, ...any)) {
	for process, r := range x.results {
		if x.processes[process].Crashed() { // what it does in the end, so that it comes to one, nobody sees
			r.rounds = nil
		}
		for other, q := range x.results[:process] {
			if x.processes[other].Crashed() {
				continue
			}
			for i := range min(len(r.rounds), len(q.rounds)) {
				if !reflect.DeepEqual(r.rounds[i], q.rounds[i]) {
					complain("round %d: process %d has agreed on %+v, and process %d on %+v", i, process, r.rounds[i], other,
						q.rounds[i])
				}
			}
		}
	}
	sound := x.sound()
	for _, process := range sound {
		r, first := x.results[process], x.results[sound[0]]
		if r.err != nil {
			complain("process %d is sound, and does not go on: %v (after %v)", process, r.err, r.failure)
		}
		if r.left != first.left {
			complain("process %d goes on with %b, and process %d with %b", process, r.left, sound[0], first.left)
		}
		for _, other := range sound {
			if r.left != 0 && r.left>>other&1 == 0 {
				complain("process %d goes on with %b, without process %d, which is sound", process, r.left, other)
			}
		}
	}
}

// judgePieces: where links between processes break that take each other for dead then, everybody either goes on, if
// only by itself, or is fenced. Any two that go on with each other agree: on all who do, and on everything that they
// have agreed on before.
func (x *simulation) judgePieces(complain func(string, ...any)) {
	for process, r := range x.results {
		if x.processes[process].Crashed() {
			continue
		}
		if r.err != nil && !errors.Is(r.err, fast.ErrFenced) {
			complain("process %d neither goes on nor is fenced: %v (after %v)", process, r.err, r.failure)
		}
		for other, q := range x.results[:process] {
			together := r.goesOnWith(other) && q.goesOnWith(process)
			if together && !x.processes[other].Crashed() && (r.left != q.left || !reflect.DeepEqual(r.rounds, q.rounds)) {
				complain("process %d goes on with %b after %+v, and process %d, which is among them, with %b after %+v",
					process, r.left, r.rounds, other, q.left, q.rounds)
			}
		}
	}
}

// goesOnWith reports whether a process with that result goes on with another one: it may have found in the end that all
// is well.
func (r *result) goesOnWith(other int) bool {
	return r.err == nil && (r.left == 0 || r.left>>other&1 == 1)
}

// judgeNames: the one process that fails is the one that all others name.
func (x *simulation) judgeNames(complain func(string, ...any)) {
	failed := x.faults[0].process
	for _, process := range x.sound() {
		err := x.results[process].failure
		peer, ok := failure.Within[*fast.PeerError](err)
		if err != nil && (!ok || peer.Rank != failed || !errors.Is(peer, fast.ErrDied) && !errors.Is(peer, fast.ErrFrozen)) {
			complain("process %d has failed, and process %d says: %v", failed, process, err)
		}
	}
}

// simulate carries a scenario out, and tells what was not as it has to be.
func simulate(t *testing.T, s scenario, planes func(process int, m control.Plane) control.Plane) (faults []string) {
	synctest.Test(t, func(t *testing.T) {
		x, err := newSimulation(s, planes)
		if err != nil {
			t.Fatal(err)
		}
		ended := x.run()
		if faults = x.judge(ended); len(faults) > 0 {
			faults = append(faults, x.describe()...)
		}
		if !ended { // synctest panics where goroutines are left, and no test can report anything any more
			fmt.Fprintln(os.Stderr, complaint(s.seed, faults))
		}
		time.Sleep(time.Minute) // the runtime's own goroutines end within seconds
	})
	return faults
}

// complaint returns what is said of a seed by which there are faults.
func complaint(seed uint64, faults []string) string {
	return fmt.Sprintf("COLLGEN_SEED=%d:\n\t%s", seed, strings.Join(faults, "\n\t"))
}

// meshes returns the planes of processes that are as they should be.
func meshes(_ int, m control.Plane) control.Plane { return m }

// describe says what happened in a simulation.
func (x *simulation) describe() (lines []string) {
	lines = append(lines, fmt.Sprintf("%d processes, %+v", x.size, x.weather))
	for k, c := range x.calls {
		lines = append(lines, fmt.Sprintf("call %d: %+v", k, c))
	}
	for call, patience := range x.patience {
		lines = append(lines, fmt.Sprintf("call %d of process %d has %v", call[0], call[1], patience))
	}
	for _, f := range x.faults {
		lines = append(lines, fmt.Sprintf("after %v process %d %s (other %d, lasts %v)", f.at, f.process, f.kind, f.other,
			f.lasts))
	}
	for process, r := range x.results {
		lines = append(lines, fmt.Sprintf("process %d: %v; %+v; left %b; %v", process, r.failure, r.rounds, r.left, r.err))
	}
	return lines
}

// foundOut are seeds by which something was found that had to be mended.
var foundOut = []uint64{6, 55, 61, 126, 767, 49645}

// stallTime is how long a seed may take, in real time, until it is said which one it is that does not end.
const stallTime = 5 * time.Minute

// leastSeeds are tried however long they take.
const leastSeeds = 50

// TestSimulation carries out one seed after the other: jobs of random calls, in which processes crash and stop and
// links break. COLLGEN_SEED=n is that seed alone; otherwise they are those from 0 to COLLGEN_SEEDS (100000, when
// soaking a million), as many as COLLGEN_SIMULATE (3s, when soaking ten hours) has time for.
func TestSimulation(t *testing.T) {
	if only := os.Getenv("COLLGEN_SEED"); only != "" {
		seed, err := strconv.ParseUint(only, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if faults := simulate(t, newScenario(seed), meshes); len(faults) > 0 {
			t.Error(strings.Join(faults, "\n"))
		}
		return
	}
	usual, short := 100_000, 3*time.Second
	if fasttest.Soaking() {
		usual, short = 1_000_000, 10*time.Hour
	}
	seeds, limit := envOr(t, "COLLGEN_SEEDS", usual, strconv.Atoi), envOr(t, "COLLGEN_SIMULATE", short, time.ParseDuration)
	try := func(seed uint64) bool {
		stalled := time.AfterFunc(stallTime, func() {
			debug.SetTraceback("all")
			panic(fmt.Sprintf("COLLGEN_SEED=%d: the clock of the simulation has stopped, for a mutex that is held while "+
				"time passes?", seed))
		})
		defer stalled.Stop()
		faults := simulate(t, newScenario(seed), meshes)
		if len(faults) > 0 {
			t.Error(complaint(seed, faults))
		}
		return len(faults) == 0
	}
	for _, seed := range foundOut {
		try(seed)
	}
	start := time.Now()
	var next, tried, failed atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for failed.Load() < 10 {
				seed := next.Add(1) - 1
				if seed >= int64(seeds) || seed >= leastSeeds && time.Since(start) > limit {
					return
				}
				tried.Add(1)
				if !try(uint64(seed)) {
					failed.Add(1)
				}
			}
		})
	}
	workers.Wait()
	fmt.Printf("TestSimulation: %d seeds in %v\n", tried.Load(), time.Since(start).Round(time.Millisecond))
}

// tightLipped is a plane that loses the notices of failures.
type tightLipped struct{ control.Plane }

func (l tightLipped) Send(to int, t wire.Topic, body []byte, files ...int) {
	if t.Kind != control.KindNotice {
		l.Plane.Send(to, t, body, files...)
	}
}

// slanderer is a plane that takes a neighbour for dead as soon as there is something to agree on.
type slanderer struct{ control.Plane }

func (s slanderer) Send(to int, t wire.Topic, body []byte, files ...int) {
	if t.Kind == control.KindAgree && s.Self() == 1 {
		s.Fence(0, fast.ErrDied)
	}
	s.Plane.Send(to, t, body, files...)
}

// forked is a plane that tells process 1 of other flags than it was told, or has said.
type forked struct{ control.Plane }

// flagsAt is where the flags stand in a message of package agree.
const flagsAt = 1 + 4 + 4 + 8 + 8

func (f forked) Send(to int, t wire.Topic, body []byte, files ...int) {
	if t.Kind == control.KindAgree && to == 1 && len(body) > flagsAt {
		body = slices.Clone(body)
		body[flagsAt] ^= 2
	}
	f.Plane.Send(to, t, body, files...)
}

// TestSimulationCatches has jobs that are not as they should be: each has to be found out within some seeds.
func TestSimulationCatches(t *testing.T) {
	for _, test := range []struct {
		name, complaint string
		planes          func(process int, m control.Plane) control.Plane
		change          func(s *scenario)
	}{
		{"a bit that is changed", "wrong result", meshes, func(s *scenario) {
			s.faults = []fault{{kind: corrupts, at: s.weather.Delay * 20}}
		}},
		{"failures that nobody is told", "does not go on",
			func(_ int, m control.Plane) control.Plane { return tightLipped{m} }, func(s *scenario) {
				s.faults = nil
				s.patience[[2]int{0, 0}] = s.weather.Delay
			}},
		{"a call that panics", "process 0 panics: planted", meshes, func(s *scenario) {
			s.calls[0].name = "panic"
		}},
		{"a process that is called dead", "is sound", func(_ int, m control.Plane) control.Plane { return slanderer{m} },
			func(s *scenario) {
				s.faults, s.patience = []fault{{kind: breaks}}, nil
				s.faults[0].at = s.weather.Delay * 10
			}},
		{"flags of which one process hears others, where a link breaks", "which is among them",
			func(_ int, m control.Plane) control.Plane { return forked{m} }, func(s *scenario) {
				s.faults, s.patience = []fault{{kind: parts, at: time.Hour}}, nil
			}},
	} {
		caught := false
		for seed := uint64(0); seed < 60 && !caught; seed++ {
			s := newScenario(seed)
			test.change(&s)
			caught = strings.Contains(strings.Join(simulate(t, s, test.planes), "\n"), test.complaint)
		}
		if !caught {
			t.Errorf("%s: nobody complains of %q", test.name, test.complaint)
		}
	}
}

// TestSimulationHangs: of a seed by which a job does not end, its number is told and what is not as it has to be,
// before the process ends, which is another one therefore.
func TestSimulationHangs(t *testing.T) {
	const hangs = "COLLGEN_SIMULATION_HANGS"
	if os.Getenv(hangs) != "" {
		s := newScenario(7)
		s.calls[0].name = "hang"
		simulate(t, s, meshes)
		return
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestSimulationHangs$")
	child.Env = append(os.Environ(), hangs+"=1")
	out, err := child.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "COLLGEN_SEED=7:\n\tit has not ended after") {
		t.Errorf("%v: %s", err, out)
	}
}

// envOr returns what an environment variable says, or usual.
func envOr[T any](t *testing.T, name string, usual T, parse func(string) (T, error)) T {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	value, err := parse(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value
}

// simulatedCall is a call that all ranks make.
type simulatedCall struct {
	name        string
	count, root int // elements in a block
	options     []fast.Option
}

var simulatedCalls = []string{"AllReduce", "AllReduce", "Reduce", "ReduceScatter", "Scan", "Exscan", "Broadcast",
	"AllGather", "Gather",
	"Scatter", "AllToAll", "Barrier", "SendRecvReplace"}

func (s *simulatedCall) do(ctx context.Context, c *fast.Comm, buf []int64) error {
	switch s.name {
	case "AllReduce":
		return fast.AllReduce(ctx, c, buf, fast.Sum, s.options...)
	case "Reduce":
		return fast.Reduce(ctx, c, buf, fast.Sum, s.root, s.options...)
	case "ReduceScatter":
		return fast.ReduceScatter(ctx, c, buf, fast.Sum, s.options...)
	case "Scan":
		return fast.Scan(ctx, c, buf, fast.Sum, s.options...)
	case "Exscan":
		return fast.Exscan(ctx, c, buf, fast.Sum, s.options...)
	case "Broadcast":
		return fast.Broadcast(ctx, c, buf, s.root, s.options...)
	case "AllGather":
		return fast.AllGather(ctx, c, buf, s.options...)
	case "Gather":
		return fast.Gather(ctx, c, buf, s.root, s.options...)
	case "Scatter":
		return fast.Scatter(ctx, c, buf, s.root, s.options...)
	case "AllToAll":
		return fast.AllToAll(ctx, c, buf, s.options...)
	case "SendRecvReplace": // around a ring
		return fast.SendRecvReplace(ctx, c, buf, (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size())
	case "Pass":
		return passAlong(ctx, c, buf)
	case "panic": // which no seed draws, nor the next
		panic("planted")
	case "hang":
		select {}
	}
	return fast.Barrier(ctx, c, s.options...)
}

// passAlong passes what rank 0 has around the ring: all others receive until it has come to them, and rank 0 until it
// is back.
func passAlong(ctx context.Context, c *fast.Comm, buf []int64) error {
	send := func() error { return fast.Send(ctx, c, buf, (c.Rank()+1)%c.Size()) }
	if c.Rank() == 0 {
		if err := send(); err != nil {
			return err
		}
	}
	if err := fast.Recv(ctx, c, buf, (c.Rank()+c.Size()-1)%c.Size()); err != nil || c.Rank() == 0 {
		return err
	}
	return send()
}

// operands returns a rank's buffer before the kth call, and after it.
func (s *simulatedCall) operands(k, rank, size int) (buf, want []int64) {
	for block := range s.blocks(rank, size) {
		for i := range s.count {
			before, after := s.element(rank, size, block, func(from, to int) int64 {
				return int64(((k+1)*size+from)*size+to)*1_000_003 + int64(i)
			})
			buf, want = append(buf, before), append(want, after)
		}
	}
	return buf, want
}

// blocks returns how many blocks a rank's buffer has.
func (s *simulatedCall) blocks(rank, size int) int {
	switch s.name {
	case "Barrier":
		return 0
	case "AllGather", "AllToAll", "ReduceScatter":
		return size
	case "Gather", "Scatter":
		if rank == s.root {
			return size
		}
	}
	return 1
}

// element returns one of a block, before and after the call; value is that which one rank has for another, or for all,
// who are 0.
func (s *simulatedCall) element(rank, size, block int, value func(from, to int) int64) (before, after int64) {
	sumOf := func(ranks, to int) (all int64) {
		for from := range ranks {
			all += value(from, to)
		}
		return all
	}
	sum := func(to int) int64 { return sumOf(size, to) }
	own := value(rank, 0)
	switch s.name {
	case "AllReduce":
		return own, sum(0)
	case "Reduce":
		if rank == s.root {
			return own, sum(0)
		}
	case "Scan":
		return own, sumOf(rank+1, 0)
	case "Exscan":
		if rank > 0 {
			return own, sumOf(rank, 0)
		}
	case "ReduceScatter":
		if block == rank {
			return value(rank, block), sum(block)
		}
		return value(rank, block), value(rank, block)
	case "Broadcast":
		return own, value(s.root, 0)
	case "AllGather", "Gather":
		if s.name == "Gather" && rank != s.root || block == rank {
			return own, own
		}
		return -1, value(block, 0)
	case "Scatter":
		if rank == s.root {
			return value(rank, block), value(rank, block)
		}
		return own, value(s.root, rank)
	case "AllToAll":
		return value(rank, block), value(block, rank)
	case "Pass":
		return own, value(0, 0)
	case "SendRecvReplace":
		return own, value((rank+size-1)%size, 0)
	}
	return own, own
}
