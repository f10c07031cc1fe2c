package tcp

// inVain returns what a rank finds out that has waited in vain: the error of a disagreement, or nil.
func (e *Endpoint) inVain() error {
	for _, peer := range e.Active {
		l := &e.links[peer]
		l.Partner.Wonder()
		if l.out.segment == 0 && l.out.flushed() { // or a message that has gone would wait for what is said after it
			e.speak(l)
		}
		if l.Receiving() == nil && l.socket != nil {
			e.search(l)
			if _, err := e.take(l, nil); err != nil {
				return err
			}
		}
	}
	return e.Disagreement()
}

// speak says on l what this rank waits for, if that is due and was not said.
func (e *Endpoint) speak(l *link) {
	if l.Partner.Due() && l.socket != nil {
		l.out.pending = e.Speak(&l.Link, l.out.pending)
	}
}
