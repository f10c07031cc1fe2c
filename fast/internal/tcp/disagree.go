package tcp

import "github.com/collgen/collgen/fast/internal/talk"

// inVain is what a rank finds out that has waited in vain: the error of a disagreement, or nil.
func (e *Endpoint) inVain() error {
	for _, peer := range e.active {
		l := &e.links[peer]
		l.partner.Wonder()
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
	for _, peer := range e.active {
		l := &e.links[peer]
		send, recv := l.turns()
		if err := l.partner.Disagreement(&e.history, send, recv, l.receivedEver, l.sentEver); err != nil {
			return err
		}
	}
	for i := range e.links { // who waits for this rank may be none that it waits for itself
		if err := e.links[i].partner.Contradiction(&e.history); err != nil {
			return err
		}
	}
	return nil
}

// speak says on l what this rank waits for, if that is due and was not said.
func (e *Endpoint) speak(l *link) {
	if l.partner.Due() && l.socket != nil {
		send, recv := l.turns()
		l.out.pending = l.partner.Speak(l.out.pending, &e.history, send, recv)
	}
}

// turns are the messages in turn on l.
func (l *link) turns() (send, recv talk.Turn) {
	if m := l.sending(); m != nil {
		send = talk.Turn{N: l.sentEver, Call: m.call, Fingerprint: m.fingerprint}
	}
	if m := l.receiving(); m != nil {
		recv = talk.Turn{N: l.receivedEver, Call: m.call, Fingerprint: m.fingerprint}
	}
	return send, recv
}
