package mesh

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// The rounds in which cards are published: in the first one they say on which host a process is; in the second one,
// which there is only if some connections have to be TCP's, at which addresses.
const (
	roundHost    = "host"
	roundAddress = "address"
)

// meshComm is the number under which meshes talk among themselves.
const meshComm = 1<<64 - 1

// What they talk about.
const (
	kindReady    uint8 = iota + 1 // to process 0: the sender is connected to all
	kindGo                        // from process 0: all are
	kindMember                    // to a newcomer: a member's card, or nothing after the last one
	kindNewcomer                  // from a newcomer: its card
	kindGone                      // to a newcomer: a member is down
	kindHello                     // to a newcomer: the sender, whose number is the Seq, is connected to it
	kindMeet                      // from the first process of a host: connections to others of the host, and their cards
	kindMet                       // to that process: the sender has taken the last ones
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

// begin makes this process's first card, and has it listen.
func (m *Mesh) begin() {
	m.card = Card{Process: m.me.Process, Host: m.cfg.Host, HeartbeatTimeout: m.cfg.HeartbeatTimeout, ForceTCP: m.cfg.ForceTCP,
		Encrypt: m.cfg.Encrypt, HasRDMA: m.cfg.HasRDMA, ForceRDMA: m.cfg.ForceRDMA}
	_, _ = rand.Read(m.card.Token[:])
	m.card.Socket = m.listenLocal()
	if m.card.Socket != "" {
		var err error
		if m.beats, err = newBeats(); err != nil {
			m.cfg.Log.Debug("heartbeats are not counted in shared memory", "error", err)
		}
	}
	m.work.Go(m.watchOver)
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

// sameSettings refuses processes of which only some encrypt their data, or use TCP or RDMA on one host, or that do not
// have the same heartbeat timeout. All come to the same result.
func sameSettings(cards []Card) error {
	return cmp.Or(sameSetting(cards, "encrypt their data", func(c *Card) bool { return c.Encrypt }),
		sameSetting(cards, "use TCP alone", func(c *Card) bool { return c.ForceTCP }),
		sameSetting(cards, "use RDMA alone", func(c *Card) bool { return c.ForceRDMA }), sameFreeze(cards))
}

func sameFreeze(cards []Card) error {
	i := slices.IndexFunc(cards, func(c Card) bool { return c.HeartbeatTimeout != cards[0].HeartbeatTimeout })
	if i < 0 {
		return nil
	}
	return fmt.Errorf("the heartbeat timeout is %v on rank %d and %v on rank %d", cards[0].HeartbeatTimeout, cards[0].Process,
		cards[i].HeartbeatTimeout, cards[i].Process)
}

func sameSetting(cards []Card, what string, set func(*Card) bool) error {
	sides := make(map[bool][]int)
	for i := range cards {
		c := &cards[i]
		sides[set(c)] = append(sides[set(c)], c.Process)
	}
	switch some, rest := sides[true], sides[false]; {
	case len(some) == 0 || len(rest) == 0:
		return nil
	case len(some) <= len(rest):
		return fmt.Errorf("ranks %v are to %s, and the others are not", some, what)
	default:
		return fmt.Errorf("ranks %v are not to %s, and the others are", rest, what)
	}
}

// needTCP reports whether processes have to be reached by TCP, and whether all of them are on one host. All processes
// come to the same result.
func needTCP(cards []Card) (tcp, alone bool) {
	alone = true
	for _, c := range cards {
		alone = alone && c.Host == cards[0].Host
		tcp = tcp || c.ForceTCP || c.Socket == ""
	}
	return tcp || !alone, alone
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
