package mesh

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// A job of n processes on one host needs n(n-1)/2 connections there. A handshake for each would take most of the time
// to form a large job. So only the first process of the host has a handshake with each of the others, and introduces
// these to each other: it makes pairs of sockets and sends the two ends to two processes. Any process with the job's
// secret could pretend to be any other one, so this trusts the first process with nothing new. With certificates,
// nobody is introduced.

// hostPeer is a process that this one introduces to others of the host.
type hostPeer struct {
	process int
	peer    *peer
	card    []byte
	unmet   []*hostPeer // those who came before it and to whom it was not introduced yet
	busy    bool        // it has not acknowledged the last introductions yet
	sent    int         // how many files these had
	shown   bool        // it was sent the tally
	next    introductions
	told    int // how many of the cards that are passed on it was sent
}

// introductions is a message to a process: ends of socket pairs, each with all that it has to know about the process at
// the other end. So the two need not send each other anything yet: a message for each connection would wake every
// process of a large job once for every other one.
type introductions struct {
	body  []byte // what begin and add append
	files []int
}

// begin begins a message. Tally is the file with the counts of heartbeats, if the process was not sent it yet.
func (v *introductions) begin(tally []int) {
	v.body = binary.LittleEndian.AppendUint64(nil, pidNamespace())
	v.body = append(v.body, flag(len(tally) > 0))
	v.files = tally
}

// add adds an end of a socket pair whose other end goes to other.
func (v *introductions) add(end int, other *hostPeer) {
	v.body = append(binary.LittleEndian.AppendUint16(v.body, uint16(len(other.card))), other.card...)
	v.body = binary.LittleEndian.AppendUint32(v.body, uint32(other.peer.pid.Load()))
	v.files = append(v.files, end)
}

// full reports whether another introduction might not fit.
func (v *introductions) full() bool {
	return len(v.files) > maxFiles-2 || len(v.body) > wire.MaxNote-maxCard-64
}

// introducer introduces the processes of this host to each other.
type introducer struct {
	*joining
	locals []*hostPeer // by process; nil: it has not come, or is down. Guarded by m.mu.
	room   int         // how many ends of socket pairs may be in flight at once
	tally  *beats      // where those who are introduced to each other count their heartbeats; nil: nowhere
}

// run introduces processes as they come. While descriptors are short, it waits until sockets in flight have arrived or
// other files are closed.
func (i *introducer) run() error {
	i.Handle(meshComm, kindIntroduced, i.onAcknowledged)
	defer i.dropLocals()
	var exhausted absence
	for {
		if err := i.await(i.work, i.ready); err != nil {
			return nil // joining has ended
		}
		i.awaitMore()
		left, err := i.round()
		short := errors.Is(err, wire.ErrExhausted)
		switch lasts := exhausted.update(short && left == i.room); {
		case err != nil && !short, lasts > deadAfter:
			return err
		case short:
			sleep(i.work, maxRetryDelay)
		}
	}
}

// dropLocals releases the processes and cards, to which a handler refers.
func (i *introducer) dropLocals() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.locals, i.passed = nil, nil
	i.tally.close()
}

// introducePause is how long processes that have come wait for others that may come, so that each gets few messages.
const introducePause = 100 * time.Millisecond

// awaitMore waits a moment, unless all processes have come.
func (i *introducer) awaitMore() {
	soon, cancel := context.WithTimeout(i.work, introducePause)
	defer cancel()
	_ = i.await(soon, func() bool {
		i.update()
		unmet := slices.ContainsFunc(i.locals, func(g *hostPeer) bool { return g != nil && len(g.unmet) > 0 })
		for p := range i.me.Size {
			x := i.of(p)
			here := x.raw != nil && (p <= i.me.Process || i.locals[p] != nil || x.err != nil || !i.private(&x.card))
			if !here || !unmet && i.addressing.Load() && len(x.card.Addresses) == 0 {
				return false
			}
		}
		return true
	})
}

// passOn has the first process of a host send a card to the others.
func (j *joining) passOn(card []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.passed = append(j.passed, card)
	j.broadcast()
}

// sendCards sends a process the cards that it was not sent yet.
func (i *introducer) sendCards(g *hostPeer) error {
	for g.told < len(i.passed) {
		var body []byte
		for g.told < len(i.passed) && len(body) <= wire.MaxNote-maxCard-2 {
			c := i.passed[g.told]
			body = append(binary.LittleEndian.AppendUint16(body, uint16(len(c))), c...)
			g.told++
		}
		if err := g.peer.send(newFrame(frameNote, wire.Topic{Comm: meshComm, Kind: kindCards}, body, nil)); err != nil {
			return &wire.PeerError{Rank: g.process, Err: err}
		}
	}
	return nil
}

// onAcknowledged handles the acknowledgement of introductions.
func (i *introducer) onAcknowledged(n wire.Note) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if n.From < len(i.locals) && i.locals[n.From] != nil {
		g := i.locals[n.From]
		g.busy, g.sent = false, 0
		i.broadcast()
	}
}

// roomLeft returns how many more ends may be in flight.
func (i *introducer) roomLeft() int {
	left := i.room
	for _, g := range i.locals {
		if g != nil {
			left -= g.sent
		}
	}
	return left
}

// ready reports whether there are cards to pass on, or there is somebody to introduce, half of those who wait for
// introductions are not busy, and half of the room is left. Waiting for that makes few messages with many
// introductions.
func (i *introducer) ready() bool {
	i.update()
	if slices.ContainsFunc(i.locals, func(g *hostPeer) bool { return g != nil && g.told < len(i.passed) }) {
		return true
	}
	if i.roomLeft() < max(4, i.room/2) {
		return false
	}
	waiting, idle := 0, 0
	for _, g := range i.locals {
		if g != nil && len(g.unmet) > 0 {
			waiting++
			if !g.busy {
				idle++
			}
		}
	}
	return idle > 0 && 2*idle >= waiting && slices.ContainsFunc(i.locals, func(g *hostPeer) bool {
		return g != nil && !g.busy && slices.ContainsFunc(g.unmet, func(other *hostPeer) bool { return !other.busy })
	})
}

// update adds processes that have connected, and removes those that are down.
func (i *introducer) update() {
	for p := i.me.Process + 1; p < i.me.Size; p++ {
		switch x, g := i.of(p), i.locals[p]; {
		case g == nil && x.peer != nil && x.err == nil && i.private(&x.card):
			unmet := slices.DeleteFunc(slices.Clone(i.locals), func(g *hostPeer) bool { return g == nil })
			i.locals[p] = &hostPeer{process: p, peer: x.peer, card: x.raw, unmet: unmet}
		case g != nil && x.err != nil:
			i.locals[p] = nil
			for _, other := range i.locals {
				if other != nil {
					other.unmet = slices.DeleteFunc(other.unmet, func(o *hostPeer) bool { return o == g })
				}
			}
		}
	}
}

// round introduces the processes that are not busy to each other, each to as many as fit into a message. It returns how
// many more ends may be in flight. The next round repeats what has failed.
func (i *introducer) round() (left int, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	left = i.roomLeft()
	idle := slices.DeleteFunc(slices.Clone(i.locals), func(g *hostPeer) bool { return g == nil || g.busy })
	free := func(g *hostPeer) bool { return !g.busy && !g.next.full() }
	for _, g := range idle {
		g.unmet = slices.DeleteFunc(g.unmet, func(other *hostPeer) bool {
			if err != nil || left < 4 || !free(g) || !free(other) {
				return false
			}
			var files int
			files, err = i.introduce(g, other)
			left -= files
			return err == nil
		})
	}
	for _, g := range i.locals {
		if g != nil {
			err = cmp.Or(err, i.sendCards(g))
		}
	}
	for _, g := range idle {
		if v := g.next; v.body != nil && len(v.files) > 0 {
			g.next, g.busy, g.sent = introductions{}, true, len(v.files)
			m := newFrame(frameNote, wire.Topic{Comm: meshComm, Kind: kindIntroduce}, v.body, v.files)
			if failed := g.peer.send(m); failed != nil {
				err = &wire.PeerError{Rank: g.process, Err: failed}
			}
		}
	}
	return left, err
}

// introduce adds introductions of two processes to each other. It returns how many files these take.
func (i *introducer) introduce(g, other *hostPeer) (files int, err error) {
	for _, x := range []*hostPeer{g, other} {
		more, err := i.begin(x)
		if err != nil {
			return files, err
		}
		files += more
	}
	ends, err := socketPair()
	if err != nil {
		return files, fmt.Errorf("a connection between ranks %d and %d: %w", g.process, other.process, wire.Exhausted(err))
	}
	g.next.add(ends[0], other)
	other.next.add(ends[1], g)
	return files + len(ends), nil
}

// begin begins the next message to a process, unless it is begun. It returns how many files it adds.
func (i *introducer) begin(g *hostPeer) (files int, err error) {
	if g.next.body != nil {
		return 0, nil
	}
	var tally []int
	if i.tally != nil && !g.shown {
		if tally, err = copyFiles([]int{i.tally.file}); err != nil {
			return 0, fmt.Errorf("the heartbeats for rank %d: %w", g.process, wire.Exhausted(err))
		}
	}
	g.next.begin(tally)
	g.shown = true
	return len(tally), nil
}
