package mesh

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Join connects this process with all others of its job. It returns when all are connected to all, and fails on all if
// it fails on one, apart from those that had just heard of success; they find the others down.
//
// It fails with *wire.TimeoutError if processes had not come when ctx ended, and then says who was refused meanwhile;
// with *wire.PeerError if a process died, gave up or refused this one; or in words. If a process died while others had
// not come yet, Join first waits for these up to a second, within ctx, to tell them.
func Join(ctx context.Context, cfg Config) (*Mesh, error) {
	m, err := newMesh(cfg)
	if err != nil {
		return nil, err
	}
	m.introducing.Store(cfg.Credentials.Key(m.me, "card") != nil)
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
	wire.Awaiting(ctx, j.missing)
	if j.run() == nil {
		m.joined.Store(true)
		return nil
	}
	err := j.joinError()
	m.sayGoodbye(closeReasonOf(err))
	j.linger(err)
	return err
}

// run joins. There are reasons if it fails.
func (j *joining) run() error {
	if why := j.cfg.Fault; why != nil {
		return j.reportFault(why)
	}
	if err := j.publish(j.inner, roundHost); err != nil {
		j.report(err, weak)
		return err
	}
	for _, p := range j.fetchOrder() {
		j.meeting.Go(func() { j.meet(p) })
	}
	j.meeting.Go(j.arrange)
	j.meeting.Go(j.starve)
	j.meeting.Go(j.probe)
	if err := j.gather(); err != nil {
		j.catchUp()
		return j.late(err, j.missing())
	}
	return j.settle()
}

// reportFault has the others hear why this process cannot take part.
func (j *joining) reportFault(why error) error {
	j.card.Failure = why.Error()
	if err := j.publish(j.inner, roundHost); err != nil {
		j.report(err, weak)
	}
	j.report(why, certain)
	return why
}

// gather waits until this process knows all cards, and is connected to all others.
func (j *joining) gather() error {
	if err := j.awaitAll(j.inner, j.known); err != nil {
		return err
	}
	cards := j.cards()
	if tcp, alone := needTCP(cards); tcp {
		j.open(alone)
		for _, c := range cards {
			if j.direct(&c) { // connected without its addresses
				j.meeting.Go(func() { j.fetch(roundAddress, c.Process) })
			}
		}
		if err := j.awaitAll(j.inner, j.addressed); err != nil {
			return err
		}
	}
	if err := j.awaitAll(j.inner, j.isConnected); err != nil {
		return err
	}
	err := sameSettings(cards)
	if err != nil { // all others hear it, because all are connected
		j.report(err, certain)
	}
	return err
}

// arrange finds the first process of this host, as soon as all that might be it are known. Then this process introduces
// the others, or is introduced by the first one.
func (j *joining) arrange() {
	first := 0
	err := j.await(j.work, func() bool {
		for first < j.me.Process && j.of(first).raw != nil && !j.private(&j.of(first).card) {
			first++
		}
		return first == j.me.Process || j.of(first).raw != nil
	})
	if err != nil {
		return // joining has ended
	}
	j.first = first
	close(j.arranged)
	if first == j.me.Process {
		i := &introducer{joining: j, guests: make([]*guest, j.me.Size), room: pairRoom()}
		err = i.run()
	} else {
		j.keepNoCounts()
		err = j.takeIntroductions()
	}
	if err != nil {
		j.report(err, certain)
	}
}

// starve reports that this process has no room for the connections of others.
func (j *joining) starve() {
	select {
	case err := <-j.starved:
		j.report(noRoom(err), certain)
	case <-j.work.Done():
	}
}

// settle has all processes learn that all are connected to all: process 0 hears it from each and tells them. When ctx
// has ended, the others give process 0 some time to say whom it waited for.
func (j *joining) settle() error {
	if j.me.Process != 0 {
		j.Send(0, wire.Topic{Comm: meshComm, Kind: kindReady}, nil)
		patient, stop := within(j.doubt, j.ctx, lastWords)
		defer stop()
		_, err := j.Receive(patient, wire.Topic{Comm: meshComm, Kind: kindGo})
		return j.late(err, []int{0})
	}
	ready := []int{0}
	for len(ready) < j.me.Size {
		n, err := j.Receive(j.inner, wire.Topic{Comm: meshComm, Kind: kindReady})
		if err != nil {
			return j.late(err, others(j.me.Size, ready))
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

// others returns the processes of size that are not among some.
func others(size int, some []int) (rest []int) {
	for p := range size {
		if !slices.Contains(some, p) {
			rest = append(rest, p)
		}
	}
	return rest
}

// latecomers is how long a process that cannot join because of a death, or a fault of its own, waits for those who have
// not come yet.
const latecomers = time.Second

// linger gives those who are not connected yet time to hear why this process leaves.
func (j *joining) linger(why error) {
	longest := afterword
	if j.cfg.Fault != nil { // they hear it of its card alone
		longest = latecomers
	}
	var gave *gaveUp
	if f := closeReasonOf(why); f.blame == blameDead && !errors.As(why, &gave) { // who gave up has said so itself
		longest = latecomers
		for _, p := range f.ranks { // who does not come any more
			if j.peer(p) == nil {
				j.down(p, errGone, nil)
			}
		}
	}
	outer, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), longest)
	defer cancel()
	patient, stop := within(outer, j.ctx, afterword)
	defer stop()
	_ = j.awaitAll(patient, j.isConnected)
}
