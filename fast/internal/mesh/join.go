package mesh

import (
	"context"
	"errors"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Join connects this process to all others of its job. It returns when all processes are connected to all others. If it
// fails on one process, it fails on all, except those that had just learned of success; these find the others down.
//
// If processes had not come when ctx ended, Join returns *wire.TimeoutError, which also lists who was refused
// meanwhile. If a process died, gave up or refused this one, it returns *wire.PeerError. If a process died before
// others have come, Join first waits for these up to a second, within ctx, to tell them.
func Join(ctx context.Context, cfg Config) (*Mesh, error) {
	m, err := newMesh(cfg)
	if err != nil {
		return nil, err
	}
	m.begin()
	if err := m.join(ctx); err != nil {
		m.finish()
		return nil, err
	}
	return m, nil
}

func (m *Mesh) join(ctx context.Context) error {
	j := newJoining(ctx, m)
	defer j.end()
	wire.ReportWait(ctx, j.missing)
	if j.run() == nil {
		m.joined.Store(true)
		return nil
	}
	err := j.joinError()
	m.sayGoodbye(closeReasonOf(err))
	j.awaitLate(err)
	return err
}

// run joins. If it fails, it has reported reasons.
func (j *joining) run() error {
	if why := j.cfg.Fault; why != nil {
		return j.reportFault(why)
	}
	if err := j.publish(j.inner, roundHost); err != nil {
		j.report(err, weak)
		return err
	}
	j.request(j.me.Process)
	j.meeting.Go(j.arrange)
	j.meeting.Go(j.fetchLate)
	j.meeting.Go(j.starve)
	j.meeting.Go(j.probe)
	if err := j.gather(); err != nil {
		j.catchUp()
		return j.reportWait(err, j.missing())
	}
	return j.settle()
}

// reportFault publishes why this process cannot take part.
func (j *joining) reportFault(why error) error {
	j.card.Failure = why.Error()
	if err := j.publish(j.inner, roundHost); err != nil {
		j.report(err, weak)
	}
	j.report(why, certain)
	return why
}

// gather waits until this process knows all cards and is connected to all others.
func (j *joining) gather() error {
	if err := j.awaitAll(j.inner, j.known); err != nil {
		return err
	}
	cards := j.cards()
	if tcp, alone := needTCP(cards); tcp {
		j.open(alone)
		j.addressing.Store(true)
		if !j.guided() {
			j.fetchRest()
		}
		if err := j.awaitAll(j.inner, j.addressed); err != nil {
			return err
		}
	}
	if err := j.awaitAll(j.inner, j.isConnected); err != nil {
		return err
	}
	err := sameSettings(cards)
	if err != nil { // all others learn it, because all are connected
		j.report(err, certain)
	}
	return err
}

// arrange finds the first process of this host. Then this process introduces the others, or the first one introduces
// it, and passes on the cards that this one lacks.
func (j *joining) arrange() {
	err := j.findFirst()
	if err != nil {
		return // joining has ended
	}
	close(j.arranged)
	if j.guided() {
		j.meeting.Go(j.takeCards)
		err = j.takeIntroductions()
	} else {
		i := &introducer{joining: j, locals: make([]*hostPeer, j.me.Size), room: maxSocketEnds()}
		if i.tally, err = newTally(j.me.Size); err != nil {
			j.cfg.Log.Debug("heartbeats are not counted in shared memory", "error", err)
		}
		j.mu.Lock()
		j.introducer = i
		j.mu.Unlock()
		j.fetchRest()
		err = i.run()
	}
	if err != nil {
		j.report(err, certain)
	}
}

// findFirst finds the first process of this host, among those that share a secret. It asks for a few cards at a time.
func (j *joining) findFirst() error {
	first, asked := 0, 0
	if !j.secret {
		first = j.me.Process
	}
	for first == asked && first < j.me.Process {
		for ; asked < min(first+maxFetches, j.me.Process); asked++ {
			j.request(asked)
		}
		err := j.await(j.work, func() bool {
			for first < asked && j.of(first).raw != nil && !j.private(&j.of(first).card) {
				first++
			}
			return first == asked || j.of(first).raw != nil
		})
		if err != nil {
			return err
		}
	}
	j.first = first
	return nil
}

// guided reports whether another process introduces this one, and passes cards on to it.
func (j *joining) guided() bool {
	select {
	case <-j.arranged:
		return j.first != j.me.Process
	default:
		return false
	}
}

// starve reports it if this process cannot accept connections.
func (j *joining) starve() {
	select {
	case err := <-j.starved:
		j.report(noRoom(err), certain)
	case <-j.work.Done():
	}
}

// settle waits until all processes are connected to all others: each tells process 0, which then tells all. After ctx
// has ended, the others give process 0 some time to say for whom it was waiting.
func (j *joining) settle() error {
	if j.me.Process != 0 {
		j.Send(0, wire.Topic{Comm: meshComm, Kind: kindReady}, nil)
		patient, stop := within(j.failing, j.ctx, lastWords)
		defer stop()
		_, err := j.Receive(patient, wire.Topic{Comm: meshComm, Kind: kindGo})
		return j.reportWait(err, []int{0})
	}
	ready := []int{0}
	for len(ready) < j.me.Size {
		n, err := j.Receive(j.inner, wire.Topic{Comm: meshComm, Kind: kindReady})
		if err != nil {
			return j.reportWait(err, j.unready(others(j.me.Size, ready)))
		}
		ready = append(ready, n.From)
	}
	for p := range j.me.Size {
		if p != 0 {
			j.Send(p, wire.Topic{Comm: meshComm, Kind: kindGo}, nil)
		}
	}
	return nil
}

// unready returns those of the given processes that hold the others up: those that have not acknowledged introductions
// yet. Without such a process it returns all of them.
func (j *joining) unready(processes []int) []int {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.introducer == nil {
		return processes
	}
	busy := func(p int) bool { g := j.introducer.locals; return p < len(g) && g[p] != nil && g[p].busy }
	if !slices.ContainsFunc(processes, busy) {
		return processes
	}
	return slices.DeleteFunc(processes, func(p int) bool { return j.introducer.locals[p] != nil && !busy(p) })
}

// others returns the processes below size that are not in some.
func others(size int, some []int) (rest []int) {
	for p := range size {
		if !slices.Contains(some, p) {
			rest = append(rest, p)
		}
	}
	return rest
}

// awaitLate gives processes that are not connected yet time to learn why this one leaves.
func (j *joining) awaitLate(why error) {
	longest := goodbyeWait
	if j.cfg.Fault != nil { // only its card tells them
		longest = lateWait
	}
	var gave *gaveUp
	if f := closeReasonOf(why); f.blame == blameDead && !errors.As(why, &gave) { // else it has said so itself
		longest = lateWait
		for _, p := range f.ranks { // the dead do not come any more
			if j.peer(p) == nil {
				j.down(p, errGone, nil)
			}
		}
	}
	outer, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), longest)
	defer cancel()
	patient, stop := within(outer, j.ctx, goodbyeWait)
	defer stop()
	_ = j.awaitAll(patient, j.isConnected)
}
