package rdma

// window is what a sender has of the receiver's slots: a number each for what it has sent, and for what it was told is
// free again.
type window struct {
	slots       uint32
	sent, freed uint32
}

// room returns how many slots are free.
func (w *window) room() int { return int(w.slots - (w.sent - w.freed)) }

// free takes note that the receiver has taken all up to the number of an immediate, and is false if that cannot be.
func (w *window) free(imm uint32) bool {
	n := ahead(imm, w.freed)
	if n > w.sent-w.freed {
		return false
	}
	w.freed += n
	return true
}

// inbox is what a receiver has of its own slots: what has come and was not taken lies between next and come.
type inbox struct {
	slots      uint32
	next, come uint32
	told       uint32 // up to there the sender was told that slots are free
}

// arrive takes note of what an immediate tells of, and is false if that is not the next one, or there was no slot for
// it.
func (b *inbox) arrive(imm uint32) bool {
	if ahead(imm, b.come) != 0 || b.come-b.told >= b.slots {
		return false
	}
	b.come++
	return true
}

// owes reports whether the sender is to be told of free slots: of a quarter of them at a time.
func (b *inbox) owes() bool { return b.next-b.told >= b.slots/4 }
