package simulate

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/gen"
)

// world is a machine with the ranks of one call.
type world struct {
	m    *Machine
	call Call
	cuts gen.Cuts

	near, far    tariff
	copy, reduce float64 // per byte

	calling, switching, spin Time

	now      Time
	agenda   agenda
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
	return tariff{ofSeconds(p.Alpha), ofSeconds(p.Overhead), p.Link, p.Put.At(footprint), p.Take.At(footprint), p.Fold.At(footprint), p.Lend, p.Share}
}

// newWorld returns the world before it begins.
func newWorld(m *Machine, c Call, chunks int, programs func(rank int) program) (*world, error) {
	onHost, hosts := c.Size, 1
	if m.RanksPerHost > 0 && m.RanksPerHost < c.Size {
		onHost = m.RanksPerHost
		hosts = (c.Size-1)/onHost + 1
	}
	w := &world{m: m, call: c, cuts: gen.Cuts{Block: c.Block, Chunks: chunks}, calling: ofSeconds(m.Call), switching: ofSeconds(m.Switch), spin: ofSeconds(m.Spin),
		ranks: make([]rank, c.Size), hosts: make([]host, hosts), open: map[pair]line{}, rings: map[pair]*ring{}}
	f, err := w.footprint(programs, min(onHost, c.Size))
	if err != nil {
		return nil, err
	}
	w.near, w.far, w.copy, w.reduce = m.Near.tariff(f), m.Far.tariff(f), m.Copy.At(f), m.Reduce.At(f)
	for i := range w.ranks {
		w.ranks[i] = rank{host: int32(i / onHost)}
	}
	w.addCores(onHost)
	w.addLinks()
	return w, nil
}

// turn lets everything happen.
func (w *world) turn(ctx context.Context) error {
	for n := 1; len(w.agenda.heap) > 0; n++ {
		e := w.agenda.next()
		w.now = e.at
		if err := w.happen(e); err != nil {
			return err
		}
		if err := w.settle(); err != nil {
			return err
		}
		if n%4096 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if w.call.Progress != nil {
				w.call.Progress(w.received, w.now)
			}
		}
	}
	return nil
}

// happen lets e happen.
func (w *world) happen(e event) error {
	switch e.kind {
	case workDone:
		return w.finished(e.of)
	case atLink:
		w.cross(e.of)
	case arrived:
		w.arrive(e.of)
	case spun:
		return w.yield(e.of)
	case left:
		return w.leave(e.of)
	}
	return nil
}

// settle has cores work until there is nothing that they could do now.
func (w *world) settle() error {
	for !w.touched.empty() {
		c := w.touched.pop()
		w.cores[c].touched = false
		if err := w.dispatch(c); err != nil {
			return err
		}
	}
	return nil
}

// touch has settle look after a core.
func (w *world) touch(c int32) {
	if !w.cores[c].touched {
		w.cores[c].touched = true
		w.touched.push(c)
	}
}

// usages returns how long everything was busy.
func (w *world) usages() []Usage {
	var all []Usage
	for i := range w.cores {
		c := &w.cores[i]
		all = append(all, Usage{fmt.Sprintf("core %d of host %d", i-int(w.hosts[c.host].first), c.host), c.busy})
	}
	for i := range w.links {
		all = append(all, Usage{w.nameOf(i), w.links[i].busy})
	}
	return all
}
