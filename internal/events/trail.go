package events

// Trail writes the events of one communicator. Its methods may be called from any goroutine; those of a nil Trail do
// nothing.
type Trail struct {
	log   *Log
	comm  uint64
	peers []int // ranks in the communicator, by the rank in a part of it; nil: they are the same
}

// Join writes that the process has joined a communicator, and returns the communicator's trail.
func (l *Log) Join(comm uint64, m *Member) *Trail {
	if l == nil {
		return nil
	}
	t := &Trail{log: l, comm: comm}
	t.Write(&Event{Do: Joined, Member: m})
	return t
}

// Within returns a trail for a transport between some ranks of the communicator, which knows them by their index in
// ranks.
func (t *Trail) Within(ranks []int) *Trail {
	if t == nil {
		return nil
	}
	return &Trail{t.log, t.comm, ranks}
}

// Write sets e's number and communicator, and writes it.
func (t *Trail) Write(e *Event) {
	if t != nil {
		e.Comm = t.comm
		t.log.write(e)
	}
}

// Part writes an event about a part of a message.
func (t *Trail) Part(do Kind, p Part) {
	if t == nil {
		return
	}
	part := p // escapes; p does not, so that a call with a nil Trail allocates nothing
	if t.peers != nil {
		part.Peer = t.peers[p.Peer]
	}
	t.Write(&Event{Do: do, Part: &part})
}
