package simulate

// host is the cores that some ranks share.
type host struct {
	first, cores int32        // its cores
	ready        queue[int32] // ranks that have work and no core
	touched      bool
}

// core does one thing at a time.
type core struct {
	host int32
	rank int32  // that it works for; -1: it is free
	last int32  // rank, plus 1, that it worked for last; 0: none
	free moment // when it has finished what it is at
	busy Time
	at   work
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
	locally                 // what a step has besides messages
)

func (w *world) addCores(onHost int) {
	cores := min(onHost, w.m.Cores)
	if w.m.Cores == 0 {
		cores = onHost
	}
	for h := range w.hosts {
		w.hosts[h].first, w.hosts[h].cores = int32(len(w.cores)), int32(cores)
		for range cores {
			w.cores = append(w.cores, core{host: int32(h), rank: -1})
		}
	}
}

// give gives a rank something to do.
func (w *world) give(r int32, x work) {
	k := &w.ranks[r]
	k.work.push(x)
	if !k.active {
		k.active = true
		w.hosts[k.host].ready.push(r)
		w.touch(k.host)
	}
}

// dispatch gives ranks that are ready to free cores. A core goes on with one rank as long as that has something to do.
func (w *world) dispatch(h int32) error {
	host := &w.hosts[h]
	for !host.ready.empty() {
		r := host.ready.items[host.ready.head]
		c := w.freeCore(host, &w.ranks[r])
		if c < 0 {
			return nil
		}
		host.ready.pop()
		w.cores[c].rank, w.ranks[r].core = r, c
		if err := w.run(c); err != nil {
			return err
		}
	}
	return nil
}

// freeCore is the core that k ran on last, if it is free; or else the first that was never used, or the first; or -1.
func (w *world) freeCore(h *host, k *rank) int32 {
	if k.core >= 0 && w.cores[k.core].rank < 0 {
		return k.core
	}
	found := int32(-1)
	for c := h.first; c < h.first+h.cores; c++ {
		if w.cores[c].rank >= 0 {
			continue
		}
		if w.cores[c].last == 0 {
			return c
		}
		if found < 0 {
			found = c
		}
	}
	return found
}

// run has core c do what its rank has to do, up to the first thing that takes time.
func (w *world) run(c int32) error {
	core := &w.cores[c]
	r := core.rank
	k := &w.ranks[r]
	for !k.work.empty() {
		x := k.work.pop()
		start := later(later(w.readyAt(k, x), k.free), core.free)
		end := w.spend(start, core, r, x)
		core.busy += end.at - start.at
		core.free, core.at = end, x
		if end.at > w.now {
			w.agenda.plan(end.at, workDone, c)
			return nil
		}
		if err := w.complete(c); err != nil {
			return err
		}
	}
	core.rank, k.active = -1, false
	w.touch(core.host)
	return nil
}

// finished goes on after something that took time.
func (w *world) finished(c int32) error {
	if err := w.complete(c); err != nil {
		return err
	}
	return w.run(c)
}

// spend is when core has done x for rank r.
func (w *world) spend(m moment, core *core, r int32, x work) moment {
	if core.last != r+1 {
		if core.last != 0 {
			m = m.plus(Switching, w.switching)
		}
		core.last = r + 1
	}
	switch x.kind {
	case putting:
		return w.putCost(m, x.of)
	case taking:
		return w.takeCost(m, x.of)
	}
	k := &w.ranks[r]
	return m.plus(Copying, ofSeconds(w.copy*float64(k.copied))).plus(Reducing, ofSeconds(w.reduce*float64(k.reduced)))
}

// complete is called when core c has done what it was at.
func (w *world) complete(c int32) error {
	core := &w.cores[c]
	r, x := core.rank, core.at
	w.ranks[r].free = core.free
	switch x.kind {
	case putting:
		return w.put(r, x.of, core.free)
	case taking:
		return w.taken(r, x.of, core.free)
	}
	return w.begin(r, core.free)
}

// readyAt is since when x could be done.
func (w *world) readyAt(k *rank, x work) moment {
	if x.kind == taking {
		return later(k.begun, w.segments.at(x.of).tail)
	}
	return k.begun
}
