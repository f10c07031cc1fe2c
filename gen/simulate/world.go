package simulate

import (
	"context"
	"fmt"
)

// world is a machine with the ranks of one call.
type world struct {
	m    *Machine
	call Call
	cuts cuts

	near, far    tariff
	copy, reduce float64 // per byte
	switching    Time

	now      Time
	agenda   agenda
	ranks    []rank
	hosts    []host
	cores    []core
	links    []link
	messages pool[message]
	segments pool[segment]
	open     map[pair]line // messages of which one end alone is there
	touched  queue[int32]  // hosts where something has to run

	sent, received, bytes int
}

// tariff is what a message costs on one kind of way, in one call.
type tariff struct {
	alpha, overhead       Time
	link, put, take, fold float64 // per byte
	lend                  int
}

func (p *Path) tariff(footprint float64) tariff {
	return tariff{ofSeconds(p.Alpha), ofSeconds(p.Overhead), p.Link, p.Put.At(footprint), p.Take.At(footprint), p.Fold.At(footprint), p.Lend}
}

// newWorld is the world before it begins.
func newWorld(m *Machine, c Call, chunks int) *world {
	onHost, hosts := c.Size, 1
	if m.RanksPerHost > 0 && m.RanksPerHost < c.Size {
		onHost = m.RanksPerHost
		hosts = (c.Size-1)/onHost + 1
	}
	f := footprint(m, &c, onHost)
	w := &world{m: m, call: c, cuts: cuts{c.Block, chunks}, near: m.Near.tariff(f), far: m.Far.tariff(f),
		copy: m.Copy.At(f), reduce: m.Reduce.At(f), switching: ofSeconds(m.Switch),
		ranks: make([]rank, c.Size), hosts: make([]host, hosts), open: map[pair]line{}}
	for i := range w.ranks {
		w.ranks[i] = rank{host: int32(i / onHost), core: -1}
	}
	w.addCores(onHost)
	w.addLinks()
	return w
}

// footprint is how many bytes the ranks of one core pass to the call, each in the larger of its two buffers.
func footprint(m *Machine, c *Call, onHost int) float64 {
	perCore := 1
	if m.Cores > 0 {
		perCore = (onHost-1)/m.Cores + 1
	}
	return float64(c.Blocks()*c.Block) * float64(perCore)
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
	case left:
		return w.leave(e.of)
	}
	return nil
}

// settle gives work to free cores until there is none, or no core.
func (w *world) settle() error {
	for !w.touched.empty() {
		h := w.touched.pop()
		w.hosts[h].touched = false
		if err := w.dispatch(h); err != nil {
			return err
		}
	}
	return nil
}

// touch has settle look after a host.
func (w *world) touch(h int32) {
	if !w.hosts[h].touched {
		w.hosts[h].touched = true
		w.touched.push(h)
	}
}

// usages is how long everything was busy.
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
