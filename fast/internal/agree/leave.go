package agree

import "github.com/collgen/collgen/fast/internal/wire"

// Leave has this member take no part any more; the others are told. Its calls fail with err.
func (a *Agent) Leave(err error) {
	if !a.end(err) {
		return
	}
	a.unwatch()
	Leave(a.plane, a.topic.Comm, a.topic.Kind, a.processes, a.me)
}

// Leave has member me, which has no Agent, take no part in the agreements of a group.
func Leave(p Plane, comm uint64, kind uint8, processes []int, me int) {
	m := Message{Kind: Left, Round: me, Value: newValue(len(processes))}
	body := m.encode(len(processes))
	for member, process := range processes {
		if member != me {
			p.Send(process, wire.Topic{Comm: comm, Kind: kind}, body)
		}
	}
}

// end returns the end of this member's part.
func (a *Agent) end(err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stop(err)
}

// stop is end, with the lock held.
func (a *Agent) stop(err error) bool {
	if a.err != nil {
		return false
	}
	a.err = err
	close(a.ended)
	clear(a.agreements)
	if a.cancel != nil {
		a.cancel(err)
	}
	return true
}
