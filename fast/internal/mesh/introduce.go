package mesh

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// A job of n processes on one host needs n(n-1)/2 connections there. A handshake for each would take most of the time
// to form it, and more of it the larger the job is. So only the first process of the host has a handshake with each of
// the others, and introduces these: of a pair of sockets it gives one end to each of two. Any process that has the
// job's secret could answer for any of them, so they trust the first one with nothing else than who it is. Without a
// secret, each has its own certificate to show, and nobody is introduced.

// guest is a process that this one introduces to others of the host.
type guest struct {
	process int
	peer    *peer
	card    []byte
	owed    []*guest // those who came before it, to whom it is not introduced yet
	busy    bool     // it has not said yet that it has taken what was sent to it last
	sent    int      // how many files that was
	invited invitation
}

// invitation is what a guest gets: ends of pairs of sockets, and with each what it has to know of the process that has
// the other end, so that the two need not say anything to each other yet: a message for each connection would wake
// each process of a large job for each other one.
type invitation struct {
	body  []byte // the namespace of the numbers of processes, and for each file that is a socket, what add appends
	files []int
}

// add invites to meet other by an end of a connection. Count is the file in which other counts its heartbeats, if it is
// passed on; shown says that other gets the guest's.
func (v *invitation) add(end int, other *guest, count []int, shown bool) {
	if v.body == nil {
		v.body = binary.LittleEndian.AppendUint64(v.body, pidNamespace())
	}
	v.body = append(binary.LittleEndian.AppendUint16(v.body, uint16(len(other.card))), other.card...)
	v.body = binary.LittleEndian.AppendUint32(v.body, uint32(other.peer.pid.Load()))
	v.body = append(v.body, byte(len(count)), flag(shown))
	v.files = append(append(v.files, end), count...)
}

// full reports whether another process might not fit in.
func (v *invitation) full() bool {
	return len(v.files) > maxFiles-2 || len(v.body) > wire.MaxNote-maxCard-64
}

// introducer introduces the processes of this host to each other.
type introducer struct {
	*joining
	guests []*guest // by process; nil: it has not come, or is down. Guarded by the mutex of the Mesh, as what they are is.
	room   int      // how many ends of connections may be on their way at once
}

// run introduces processes as they come. While there are no descriptors for connections, it waits until those that are
// on their way have arrived, or files that others have opened are closed.
func (i *introducer) run() error {
	i.Handle(meshComm, kindMet, i.met)
	defer i.forget()
	var exhausted absence
	for {
		if err := i.await(i.work, i.ready); err != nil {
			return nil // joining has ended
		}
		left, err := i.round()
		short := errors.Is(err, wire.ErrExhausted)
		switch lasts := exhausted.lasts(short && left == i.room); {
		case err != nil && !short, lasts > stubborn:
			return err
		case short:
			sleep(i.work, longPause)
		}
	}
}

// forget lets the guests go, which met holds.
func (i *introducer) forget() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.guests = nil
}

// met takes a guest's word that it has taken what was sent to it.
func (i *introducer) met(n wire.Note) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if n.From < len(i.guests) && i.guests[n.From] != nil {
		g := i.guests[n.From]
		g.busy, g.sent = false, 0
		i.broadcast()
	}
}

// left returns how many more ends may be on their way.
func (i *introducer) left() int {
	left := i.room
	for _, g := range i.guests {
		if g != nil {
			left -= g.sent
		}
	}
	return left
}

// ready reports whether there is somebody to introduce, half of those who have to meet somebody are not busy, and half
// of the room is left: then few messages tell of many.
func (i *introducer) ready() bool {
	i.update()
	if i.left() < i.room/2 {
		return false
	}
	waiting, idle := 0, 0
	for _, g := range i.guests {
		if g != nil && len(g.owed) > 0 {
			waiting++
			if !g.busy {
				idle++
			}
		}
	}
	return idle > 0 && 2*idle >= waiting && slices.ContainsFunc(i.guests, func(g *guest) bool {
		return g != nil && !g.busy && slices.ContainsFunc(g.owed, func(other *guest) bool { return !other.busy })
	})
}

// update makes guests of those who are connected to this process now. Who is down is none any more.
func (i *introducer) update() {
	for p := i.me.Process + 1; p < i.me.Size; p++ {
		switch x, g := i.of(p), i.guests[p]; {
		case g == nil && x.peer != nil && x.peer.count != nil && x.err == nil && i.private(&x.card):
			owed := slices.DeleteFunc(slices.Clone(i.guests), func(g *guest) bool { return g == nil })
			i.guests[p] = &guest{process: p, peer: x.peer, card: x.raw, owed: owed}
		case g != nil && x.err != nil:
			i.guests[p] = nil
			for _, other := range i.guests {
				if other != nil {
					other.owed = slices.DeleteFunc(other.owed, func(o *guest) bool { return o == g })
				}
			}
		}
	}
}

// round introduces those who are not busy to each other, each to as many as fit into a message. It returns how many
// more ends may be on their way. Who is not introduced because of an error is in the next round.
func (i *introducer) round() (left int, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	left = i.left()
	idle := slices.DeleteFunc(slices.Clone(i.guests), func(g *guest) bool { return g == nil || g.busy })
	free := func(g *guest) bool { return !g.busy && !g.invited.full() }
	for _, g := range idle {
		g.owed = slices.DeleteFunc(g.owed, func(other *guest) bool {
			if err != nil || left < 4 || !free(g) || !free(other) {
				return false
			}
			var files int
			files, err = introduce(g, other)
			left -= files
			return err == nil
		})
	}
	for _, g := range idle {
		if v := g.invited; len(v.files) > 0 {
			g.invited, g.busy, g.sent = invitation{}, true, len(v.files)
			m := newFrame(frameNote, wire.Topic{Comm: meshComm, Kind: kindMeet}, v.body, v.files)
			if failed := g.peer.send(m); failed != nil {
				err = &wire.PeerError{Rank: g.process, Err: failed}
			}
		}
	}
	return left, err
}

// introduce has two guests invited to meet each other, and returns how many files that takes.
func introduce(g, other *guest) (files int, err error) {
	ends, err := socketPair()
	if err != nil {
		return 0, fmt.Errorf("a connection between ranks %d and %d: %w", g.process, other.process, wire.Exhausted(err))
	}
	// Where a copy cannot be had, the two show each other their counts themselves.
	mine, _ := copyFiles(g.peer.count)
	theirs, _ := copyFiles(other.peer.count)
	g.invited.add(ends[0], other, theirs, len(mine) > 0)
	other.invited.add(ends[1], g, mine, len(theirs) > 0)
	return len(ends) + len(mine) + len(theirs), nil
}
