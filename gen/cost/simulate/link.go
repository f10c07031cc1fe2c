package simulate

import "fmt"

// The links stand in this order: the memory of every host, the way out of every host, the way in, and the same of every
// rack. Without a price there are none of that kind, and a segment passes by.

func (w *world) addLinks() {
	w.links = make([]link, 3*len(w.hosts)+2*w.racks())
}

// nameOf returns what link i is.
func (w *world) nameOf(i int) string {
	hosts, racks := len(w.hosts), w.racks()
	for _, group := range []struct {
		n    int
		name string
	}{{hosts, "memory of host %d"}, {hosts, "link out of host %d"}, {hosts, "link into host %d"},
		{racks, "uplink out of rack %d"}, {racks, "uplink into rack %d"}} {
		if i < group.n {
			return fmt.Sprintf(group.name, i)
		}
		i -= group.n
	}
	return fmt.Sprintf("link %d", i)
}

// hop is a link on the way of a message: what a byte costs there, and how long it is to where the message goes from it.
type hop struct {
	link  int
	price float64
	alpha Time
}

// hop is hop i on the way of a message, and whether there are more.
func (w *world) hop(p pair, i int) (h hop, more bool) {
	from, to := w.hostOf(p.from), w.hostOf(p.to)
	hosts := len(w.hosts)
	if from == to {
		return hop{int(from), w.near.link, w.near.alpha}, false
	}
	out, in := hosts+int(from), 2*hosts+int(to)%hosts
	rackOut, rackIn := w.rackOf(from), w.rackOf(to)
	if rackOut == rackIn {
		return [...]hop{{out, w.far.link, w.far.alpha}, {in, w.far.link, 0}}[i], i < 1
	}
	first := 3 * hosts
	up := hop{first + rackOut, w.m.Rack.Link, ofSeconds(w.m.Rack.Alpha)}
	down := hop{first + w.racks() + rackIn%w.racks(), w.m.Rack.Link, 0}
	return [...]hop{{out, w.far.link, w.far.alpha}, up, down, {in, w.far.link, 0}}[i], i < 3
}

// cross has a segment, whose first byte is there, cross its next link.
func (w *world) cross(id int32) {
	s := w.segments.at(id)
	m := w.messages.at(s.message)
	h, more := w.hop(m.pair, s.hop)
	l := &w.links[h.link]
	takes := ofSeconds(h.price * float64(s.bytes))
	begin := s.head
	if takes > 0 {
		begin = later(s.head, l.free)
		l.free = begin.plus(Wire, takes)
		l.busy += takes
		s.tail = later(l.free, s.tail)
	}
	if s.hop == 0 && w.tariffOf(m.pair) == &w.far && m.put == w.segmentsOf(m) {
		m.left = s.tail
		w.agenda.plan(s.tail.at, left, s.message)
	}
	s.head, s.tail = begin.plus(Latency, h.alpha), s.tail.plus(Latency, h.alpha)
	s.hop++
	if more {
		w.agenda.plan(s.head.at, atLink, id)
	} else {
		w.agenda.plan(s.tail.at, arrived, id)
	}
}
