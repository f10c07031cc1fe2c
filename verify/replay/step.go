package replay

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/collgen/collgen/internal/events"
)

// step is the messages of a rank that are in flight together.
type step struct {
	calls []*call
	sends map[int][]*outgoing // by peer
	recvs map[int][]*incoming
}

// step processes the messages of the next step of the running calls that have none in flight. Those of calls between a
// sender and a receiver may join others.
func (m *member) step(e *events.Event) error {
	st := m.current
	if st == nil {
		st = &step{sends: map[int][]*outgoing{}, recvs: map[int][]*incoming{}}
	}
	var sends []events.Send
	var recvs []events.Recv
	for _, c := range m.calls {
		switch s := c.settle(); {
		case s == nil || slices.Contains(st.calls, c):
			continue
		case c.moved:
			return fmt.Errorf("step %d of %s has first to do: %s", s.Number, c.s.Algorithm, c.due())
		}
		moreSends, moreRecvs := c.messages()
		for _, s := range moreSends {
			s.Call = c.Fingerprint
			sends = append(sends, s)
		}
		for _, r := range moreRecvs {
			r.Call = c.Fingerprint
			recvs = append(recvs, r)
		}
		st.calls = append(st.calls, c)
	}
	if err := compare(e, sends, recvs); err != nil {
		return err
	}
	m.list(st, sends, recvs)
	m.current = st
	return nil
}

// compare compares the messages of a step with the schedule's. Messages of a single call do not name it.
func compare(e *events.Event, sends []events.Send, recvs []events.Recv) error {
	var got, want []string
	for i, s := range e.Sends {
		if i < len(sends) && s.Call == 0 {
			s.Call = sends[i].Call
		}
		got = append(got, sendWords(&s))
	}
	for _, s := range sends {
		want = append(want, sendWords(&s))
	}
	for i, r := range e.Recvs {
		if i < len(recvs) && r.Call == 0 {
			r.Call = recvs[i].Call
		}
		got = append(got, recvWords(&r))
	}
	for _, r := range recvs {
		want = append(want, recvWords(&r))
	}
	if len(want) == 0 {
		return errors.New("the schedule has no messages here")
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("the schedule has one more message: %s", want[i])
		case i >= len(want):
			return fmt.Errorf("the schedule does not have the message: %s", got[i])
		case got[i] != want[i]:
			return fmt.Errorf("message %d is\n  %s\nand that of the schedule\n  %s", i, got[i], want[i])
		}
	}
	return nil
}

// list adds the messages to their channels.
func (m *member) list(st *step, sends []events.Send, recvs []events.Recv) {
	for _, s := range sends {
		ch := m.comm.channel(m.rank, s.Peer)
		out := &outgoing{to: ch, number: len(ch.sent), call: s.Call, bytes: s.Data.Bytes}
		if out.number < len(ch.received) {
			out.receipt = ch.received[out.number]
		}
		ch.sent = append(ch.sent, out)
		st.sends[s.Peer] = append(st.sends[s.Peer], out)
	}
	for _, r := range recvs {
		ch := m.comm.channel(r.Peer, m.rank)
		in := &incoming{from: ch, number: len(ch.received), call: r.Call, bytes: r.Into.Bytes, lend: r.Lend}
		if r.AfterSend {
			in.after = st.overwritten(&r, sends)
		}
		if in.number < len(ch.sent) {
			ch.sent[in.number].receipt = in
		}
		ch.received = append(ch.received, in)
		st.recvs[r.Peer] = append(st.recvs[r.Peer], in)
	}
}

// overwritten returns the send to r's peer whose memory r overwrites, if there is one.
func (st *step) overwritten(r *events.Recv, sends []events.Send) *outgoing {
	n := 0
	for _, s := range sends {
		if s.Peer != r.Peer {
			continue
		}
		if a, b := s.Data, r.Into; a.Buf == b.Buf && a.At < b.At+b.Bytes && b.At < a.At+a.Bytes {
			return st.sends[r.Peer][n]
		}
		n++
	}
	return nil
}

// done processes the end of a step.
func (m *member) done() error {
	st := m.current
	if st == nil {
		return errors.New("no messages are in flight")
	}
	for peer, all := range st.sends {
		if i := slices.IndexFunc(all, func(out *outgoing) bool { return !out.complete() }); i >= 0 {
			return fmt.Errorf("of a message of %d bytes to rank %d, %d can be received and %d are sent", all[i].bytes, peer,
				all[i].ready, all[i].gone)
		}
	}
	for peer, all := range st.recvs {
		if i := slices.IndexFunc(all, func(in *incoming) bool { return !in.complete() }); i >= 0 {
			return fmt.Errorf("of a message of %d bytes of rank %d, %d are in their place", all[i].bytes, peer, all[i].placed)
		}
	}
	for _, c := range st.calls {
		c.moved = true
	}
	m.current = nil
	return nil
}

// local processes a local operation of the rank.
func (m *member) local(e *events.Event) error {
	if len(m.calls) != 1 || m.current != nil {
		return errors.New("no call runs whose messages are complete")
	}
	c := m.calls[0]
	s := c.settle()
	if s == nil {
		return fmt.Errorf("%s has nothing more to do", c.s.Algorithm)
	}
	if !c.moved {
		return fmt.Errorf("step %d of %s has first to do: %s", s.Number, c.s.Algorithm, c.due())
	}
	if do, want := c.operation(); do != e.Do || !reflect.DeepEqual(want, e.Local) {
		return fmt.Errorf("step %d of %s has to do: %s", s.Number, c.s.Algorithm, localWords(do, want))
	}
	c.local++
	return nil
}
