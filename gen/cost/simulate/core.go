package simulate

// addCores adds the cores of every host, and has ranks know theirs.
func (w *world) addCores(onHost int) {
	for h := range w.hosts {
		here := min(onHost, len(w.ranks)-h*onHost)
		cores := coresFor(w.m, here)
		w.hosts[h] = host{int32(len(w.cores)), int32(cores)}
		for c := range cores {
			w.cores = append(w.cores, core{host: int32(h), first: int32(h*onHost + c), stride: int32(cores),
				ranks: int32((here-c-1)/cores + 1)})
		}
	}
	for i := range w.ranks {
		k := &w.ranks[i]
		h := w.hosts[k.host]
		k.core = h.first + int32(i%onHost)%h.cores
	}
}

// dispatch has core c work, if it does not, for the next of its ranks that has something to do.
func (w *world) dispatch(c int32) error {
	core := &w.cores[c]
	if core.works || core.ready == 0 || core.lingers && w.idle(core, core.turn) {
		return nil
	}
	core.lingers = false
	for w.idle(core, core.turn) {
		core.turn = (core.turn + 1) % core.ranks
		if core.used {
			core.passes++
		}
	}
	core.used, core.works = true, true
	return w.run(c)
}

func (w *world) idle(c *core, turn int32) bool { return w.ranks[c.rankOf(turn)].work.empty() }

// run has core c do what its rank has to do, up to the first thing that takes time.
func (w *world) run(c int32) error {
	core := &w.cores[c]
	r := core.rankOf(core.turn)
	k := &w.ranks[r]
	for !k.work.empty() {
		x := k.work.pop()
		if k.work.empty() {
			core.ready--
		}
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
	core.works = false
	w.linger(c, k)
	w.touch(c)
	return nil
}

// linger has the rank k, which has nothing to do, keep core c for a while, unless it waits for one that needs this
// core.
func (w *world) linger(c int32, k *rank) {
	core := &w.cores[c]
	if w.spin == 0 || core.ranks == 1 || k.done || k.beside > 0 {
		return
	}
	core.lingers, core.until = true, w.now.after(w.spin)
	w.agenda.plan(core.until, spun, c)
}

// yield is called when core c's rank may have had nothing to do for long enough.
func (w *world) yield(c int32) error {
	core := &w.cores[c]
	if !core.lingers || core.until > w.now {
		return nil
	}
	core.lingers = false
	core.free = core.free.plus(Switching, w.now-core.free.at)
	return w.dispatch(c)
}

// finished goes on after something that took time.
func (w *world) finished(c int32) error {
	if err := w.complete(c); err != nil {
		return err
	}
	return w.run(c)
}

// spend returns when core has done x for rank r.
func (w *world) spend(m moment, core *core, r int32, x work) moment {
	m = m.plus(Switching, Time(core.passes)*w.switching)
	core.passes = 0
	if w.ranks[r].calling {
		w.ranks[r].calling = false
		m = m.plus(Overhead, w.calling)
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
	r, x := core.rankOf(core.turn), core.at
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
	switch x.kind {
	case taking:
		return later(k.begun, w.segments.at(x.of).tail)
	case putting:
		if g := w.ringOf(w.messages.at(x.of).pair); g != nil {
			return later(k.begun, g.room)
		}
	}
	return k.begun
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
