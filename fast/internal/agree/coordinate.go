package agree

// propose has all members adopt what was adopted in the highest round, or else a new value.
func (m *Machine) propose() {
	best, value := m.adopted, m.value
	for _, r := range m.reports {
		if r != nil && r.Adopted > best {
			best, value = r.Adopted, r.Value
		}
	}
	if best == 0 {
		value = m.fresh()
	}
	m.proposed, m.adopted, m.value = true, m.me+1, value
	m.broadcast(Propose)
}

// fresh returns a value of what all members have said. Of two members that take each other for dead, because nothing
// but their link is, the higher one is gone: what it says of others does not count any more.
func (m *Machine) fresh() Value {
	v := m.own.clone()
	v.Gone.unite(m.gone)
	v.Dead.unite(m.dead)
	for member, r := range m.reports {
		if r == nil {
			continue
		}
		v.take(&r.Value)
		if !v.Gone.Has(member) {
			v.Gone.unite(r.Value.Gone)
			v.Dead.unite(r.Value.Dead)
		}
	}
	v.Gone.remove(m.me)
	v.Dead.remove(m.me)
	return v
}

// decide ends the agreement, and tells those that may be waiting for it: for the coordinator all, for others those
// whose coordinator this one may be, and members that are to be given up but can be told.
func (m *Machine) decide(v Value) {
	m.decided, m.value = true, v
	leads := m.coordinator() == m.me
	for member := range m.size {
		waits := leads || v.Gone.Has(member) || m.reports != nil && m.reports[member] != nil
		if waits && member != m.me && !m.gone.Has(member) {
			m.send(member, Decide)
		}
	}
	m.reports = nil
}
