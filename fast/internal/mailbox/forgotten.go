package mailbox

// forgotten are the communicators whose messages nobody wants any more, the last maxForgotten of them: a message is not
// so late that as many communicators came and went meanwhile.
type forgotten struct {
	set   map[uint64]bool
	order []uint64
	next  int // the place in order of the oldest, when it is full
}

const maxForgotten = 1 << 14

func (f *forgotten) has(comm uint64) bool { return f.set[comm] }

func (f *forgotten) add(comm uint64) {
	switch {
	case f.set[comm]:
		return
	case f.set == nil:
		f.set = make(map[uint64]bool)
	}
	f.set[comm] = true
	if len(f.order) < maxForgotten {
		f.order = append(f.order, comm)
		return
	}
	delete(f.set, f.order[f.next])
	f.order[f.next] = comm
	f.next = (f.next + 1) % maxForgotten
}
