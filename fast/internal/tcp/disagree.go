package tcp

import "github.com/collgen/collgen/fast/internal/wire"

// Ranks whose calls do not match may wait for each other without a message that would tell: two roots that both receive,
// or both send more than a connection holds, or a rank whose call has no messages. A rank that has waited in vain says
// what it waits for, and which calls it has begun, and compares its own with what other ranks have said.

// words are what the other rank of a link was told.
type words struct {
	due             bool   // there is something to say, at the next end of a segment
	begun           uint64 // how many calls
	sends, receives uint64 // numbers of the messages that were waited for last, plus 1
}

// heard are what the other rank of a link has told.
type heard struct {
	past  []wire.Call // calls that it has begun, the last ones
	sends waiting     // for which messages it has waited in vain last; without a number they are not said
	recvs waiting
	// Whether they were said.
	saidSends, saidRecvs bool
}

// remember keeps c, and forgets what came long before it.
func (h *heard) remember(c *wire.Call) {
	if len(h.past) == history {
		h.past = h.past[:copy(h.past, h.past[1:])]
	}
	h.past = append(h.past, *c)
}

func (h *heard) hear(w waiting) {
	if w.sends {
		h.sends, h.saidSends = w, true
	} else {
		h.recvs, h.saidRecvs = w, true
	}
}

// inVain is what a rank finds out that has waited in vain: the error of a disagreement, or nil.
func (e *Endpoint) inVain() error {
	for _, l := range e.active {
		l.said.due = true
		if l.out.segment == 0 && l.out.flushed() { // or a message that has gone would wait for what is said after it
			e.speak(l)
		}
		if l.receiving() == nil && l.socket != nil {
			e.search(l)
			if _, err := e.take(l, nil); err != nil {
				return err
			}
		}
	}
	for _, l := range e.active {
		if err := l.disagreement(e.past[:min(e.begun, history)]); err != nil {
			return err
		}
	}
	return nil
}

// speak says on l what this rank waits for, if that is due and was not said.
func (e *Endpoint) speak(l *link) {
	said, o := &l.said, &l.out
	if !said.due || l.socket == nil {
		return
	}
	said.due = false
	if e.begun > history {
		said.begun = max(said.begun, e.begun-history)
	}
	for ; said.begun < e.begun; said.begun++ {
		c := &e.past[said.begun%history]
		o.pending = appendTold(o.pending, kindPast, c, c.Fingerprint())
	}
	if m := l.sending(); m != nil && said.sends != l.sentEver+1 {
		said.sends = l.sentEver + 1
		o.pending = (&waiting{true, l.sentEver, *m.call}).append(o.pending, m.fingerprint)
	}
	if m := l.receiving(); m != nil && said.receives != l.receivedEver+1 {
		said.receives = l.receivedEver + 1
		o.pending = (&waiting{false, l.receivedEver, *m.call}).append(o.pending, m.fingerprint)
	}
}

// disagreement compares the calls of the messages that are waited for on l with those of the other rank. own are calls
// that this rank has begun.
func (l *link) disagreement(own []wire.Call) error {
	send, recv := l.sending(), l.receiving()
	if send != nil {
		// A rank that is stuck sending waits until this one has received, which it has not begun to do.
		stuck := recv == nil && l.heard.saidSends && l.heard.sends.n == l.receivedEver
		if err := l.compare(own, send.call, &l.heard.sends, stuck); err != nil {
			return err
		}
	}
	if recv != nil {
		stuck := send == nil && l.heard.saidRecvs && l.heard.recvs.n == l.sentEver
		return l.compare(own, recv.call, &l.heard.recvs, stuck)
	}
	return nil
}

// compare compares a call of this rank with the one of the other rank that is to agree with it. Otherwise, if the other
// rank is stuck in a call and this rank waits for it, neither of them ever goes on: that call is compared with the one of
// own that is to agree with it, or with mine.
func (l *link) compare(own []wire.Call, mine *wire.Call, w *waiting, stuck bool) error {
	for i := range l.heard.past {
		if theirs := &l.heard.past[i]; theirs.Meets(mine) {
			return l.differ(mine, theirs)
		}
	}
	if l.in.known != 0 && l.in.told.Meets(mine) {
		return l.differ(mine, &l.in.told)
	}
	if !stuck {
		return nil
	}
	for i := range own {
		if own[i].Meets(&w.call) {
			mine = &own[i]
		}
	}
	return l.differ(mine, &w.call)
}

// differ is the error of two calls that are to be the same, or nil if they are. The other rank learns of it too.
func (l *link) differ(mine, theirs *wire.Call) error {
	if err := wire.Mismatch(mine, theirs, l.peer); err != nil {
		l.refusal = (&refused{sent: *theirs, expected: *mine}).append(nil)
		return err
	}
	return nil
}
