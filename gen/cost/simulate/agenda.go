package simulate

// event is something that is going to happen.
type event struct {
	at    Time
	order uint64 // of those at one time, the one that was planned first happens first
	kind  eventKind
	of    int32 // the core, segment or message that it happens to
}

type eventKind uint8

const (
	workDone eventKind = iota // a core has finished what it was at
	atLink                    // the head of a segment comes to its next link
	arrived                   // a segment is with its receiver
	spun                      // a rank has kept its core for long enough
	left                      // the last segment of a message has left the sender's host
)

// agenda is a heap of events.
type agenda struct {
	heap    []event
	planned uint64
}

func (x *event) before(y *event) bool { return x.at < y.at || x.at == y.at && x.order < y.order }

// plan adds an event.
func (a *agenda) plan(at Time, kind eventKind, of int32) {
	a.planned++
	a.heap = append(a.heap, event{at, a.planned, kind, of})
	h := a.heap
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].before(&h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// next takes the earliest event out; the agenda is not empty.
func (a *agenda) next() event {
	h := a.heap
	first, last := h[0], len(h)-1
	h[0] = h[last]
	a.heap = h[:last]
	a.sink()
	return first
}

// sink restores the order below the root.
func (a *agenda) sink() {
	h := a.heap
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].before(&h[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
