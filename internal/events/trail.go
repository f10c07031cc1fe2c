package events

// Trail writes the events of one communicator. Its methods may be called from any goroutine; those of a nil Trail do
// nothing.
type Trail struct {
	log   *Log
	comm  uint64
	peers []int // the rank in the communicator of each rank of a part of it; nil: they are the same
}

// Join writes that the process has become a member of a communicator, and is the trail of it.
func (l *Log) Join(comm uint64, m *Member) *Trail {
	if l == nil {
		return nil
	}
	t := &Trail{log: l, comm: comm}
	t.Write(&Event{Do: Joined, Member: m})
	return t
}

// Within returns t for a transport between some ranks of the communicator, which it knows by their index in ranks.
func (t *Trail) Within(ranks []int) *Trail {
	if t == nil {
		return nil
	}
	return &Trail{t.log, t.comm, ranks}
}

// Write writes e, of which it sets the number and the communicator.
func (t *Trail) Write(e *Event) {
	if t != nil {
		e.Comm = t.comm
		t.log.write(e)
	}
}

// Part writes an event of a part of a message.
func (t *Trail) Part(do Kind, p Part) {
	if t == nil {
		return
	}
	part := p // which is kept; p itself, of a nil Trail, costs nothing
	if t.peers != nil {
		part.Peer = t.peers[p.Peer]
	}
	t.Write(&Event{Do: do, Part: &part})
}
