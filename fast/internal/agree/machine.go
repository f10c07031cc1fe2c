package agree

// Machine is one member's part in one agreement.
type Machine struct {
	size, me   int
	quorum     int
	gone, dead Set // members that are known to have left or died; those that died
	started    bool
	own        Value // this member's flags
	adopted    int   // the round in which it has adopted value, plus 1
	value      Value
	told       int        // the coordinator that has this member's State or Decide; -1: none
	reports    []*Message // to this member, as the coordinator: the States, by member
	proposed   bool
	acks       Set // members that have adopted what this one proposed
	decided    bool
	lost       bool // too few members are left
	out        []Envelope
}

// Envelope is a message to a member.
type Envelope struct {
	To int
	Message
}

// NewMachine is member me's of a group of that size, before it has started and anything is known.
func NewMachine(size, me int) *Machine {
	return &Machine{size: size, me: me, told: -1, gone: newSet(size), dead: newSet(size), acks: newSet(size)}
}

// Start has the member take part with its flags. Without quorum members the agreement fails; all members give the same.
func (m *Machine) Start(call Call, flags uint64, quorum int) {
	m.started, m.quorum = true, quorum
	m.own = newValue(m.size)
	m.own.Flags = flags
	m.own.First[call] = uint32(m.me) + 1
	m.advance()
}

// Take receives a message of another member.
func (m *Machine) Take(from int, msg Message) {
	switch msg.Kind {
	case State:
		m.takeState(from, msg)
	case Propose:
		if from == msg.Round && from == m.coordinator() && m.started && !m.decided && !m.lost {
			m.adopted, m.value = msg.Round+1, msg.Value
			m.send(from, Adopted)
		}
	case Adopted:
		if m.proposed && msg.Round == m.me {
			m.acks.add(from)
		}
	case Decide:
		if !m.decided {
			m.told = from
			m.decide(msg.Value)
		}
	case Left:
		m.Gone(from, false)
	}
	m.advance()
}

// Gone has the member know that another one is dead, or else has left.
func (m *Machine) Gone(member int, dead bool) {
	m.gone.add(member)
	if dead {
		m.dead.add(member)
	}
	m.advance()
}

// Decision returns the value, once there is one.
func (m *Machine) Decision() (Value, bool) { return m.value, m.decided }

// Lost tells that this member gives up, because too few others are left.
func (m *Machine) Lost() bool { return m.lost }

// Waiting returns the members that this one is waiting for.
func (m *Machine) Waiting() (members []int) {
	if c := m.coordinator(); c != m.me {
		return []int{c}
	}
	for member := range m.size {
		if member != m.me && !m.gone.Has(member) && !m.heard(member) {
			members = append(members, member)
		}
	}
	return members
}

// Outgoing takes the messages that are to be sent.
func (m *Machine) Outgoing() []Envelope {
	out := m.out
	m.out = nil
	return out
}

// coordinator returns the lowest member that is not gone.
func (m *Machine) coordinator() int { return m.gone.lowestOutside() }

// heard reports whether member has given what this one waits for, as the coordinator.
func (m *Machine) heard(member int) bool {
	if m.proposed {
		return m.acks.Has(member)
	}
	return m.reports != nil && m.reports[member] != nil
}

// advance does what can be done now.
func (m *Machine) advance() {
	c := m.coordinator()
	switch {
	case m.lost:
	case m.decided:
		if c != m.me && c != m.told {
			m.told = c
			m.send(c, Decide)
		}
	case !m.started:
	case m.size-m.gone.Len() < m.quorum:
		m.lost = true
		m.broadcast(Left)
	case c != m.me:
		if c != m.told {
			m.told = c
			m.send(c, State)
		}
	case len(m.Waiting()) > 0:
	case !m.proposed:
		m.propose()
		m.advance()
	default:
		m.decide(m.value)
	}
}

func (m *Machine) takeState(from int, msg Message) {
	switch {
	case m.decided:
		m.send(from, Decide)
	case msg.Round == m.me:
		if m.reports == nil {
			m.reports = make([]*Message, m.size)
		}
		m.reports[from] = &msg
	}
}

func (m *Machine) broadcast(k Kind) {
	for member := range m.size {
		if member != m.me && !m.gone.Has(member) {
			m.send(member, k)
		}
	}
}

// send has a message of that kind sent, in the round of its coordinator.
func (m *Machine) send(to int, k Kind) {
	msg := Message{Kind: k, Round: m.coordinator()}
	switch {
	case k == State && m.adopted == 0:
		msg.Value = m.own.clone()
		msg.Value.Gone.unite(m.gone)
		msg.Value.Dead.unite(m.dead)
	case k == State:
		msg.Adopted, msg.Value = m.adopted, m.value
	case k == Propose, k == Decide:
		msg.Value = m.value
	default:
		msg.Value = newValue(m.size)
	}
	m.out = append(m.out, Envelope{to, msg})
}
