//go:build linux

package shm

import "fmt"

// The protocol of a message depends first on its length: up to inline bytes it lies in its line, up to small bytes in a
// small slot, and otherwise in full slots, which the sender fills while the receiver copies or reduces the one before.
// Through slots both ranks copy at the same time. Both copies together take hardly longer than one, because a slot's
// data go from one processor's cache to the other's. So the protocols without slots are only for what they do better:
const (
	// directFrom is the length from which a message in memory of fast.Alloc is read in place. Shorter ones are copied
	// faster than the receiver is waited for.
	directFrom = 16 << 10

	// peekFrom is the length from which a message is read in the memory of the sender's process, if both ranks send
	// each other as much from huge pages. Then both are busy copying, and slots would double the copies: 512 KiB each
	// way took 22 µs through slots and 15 µs this way, 256 KiB 10 to 15 and 9, 128 KiB 5 and 5. In one direction, 1 MiB
	// takes 19 µs through slots and 33 µs this way.
	peekFrom = 256 << 10

	// crowdedFrom is the same in one direction too, where there are more ranks than processors. Then no processor is
	// free for a second, concurrent copy, and reading in place saves a context switch every few segments: a broadcast
	// of 16 MiB among 4 ranks on 2 processors took 3.0 ms through slots and 2.5 ms this way, one of 4 MiB 0.4 and 0.25.
	// One of 512 KiB took 57 µs through slots and 130 µs this way.
	crowdedFrom = 1 << 20

	// piece is how much of such a message is read at a time, so that the part of the receiver's memory involved stays
	// in the cache for the kernel and its successors.
	piece = 128 << 10

	// peekPiece is how much is read at a time where no kernel is involved: a rank notices only between pieces, every
	// few milliseconds, that it has to give up. Each of these system calls takes 2 µs before it reads anything; 8 MiB
	// took 10 % longer in four pieces than in one.
	peekPiece = 16 << 20
)

// Protocol returns in words how this rank sends a message of so many bytes, which the receiver reduces or copies. It
// may be called at any time, even before it is known whether there is memory for full slots, and whether the receiver
// can read this process's memory.
func (e *Endpoint) Protocol(bytes int, reduces bool) string {
	how, where := "copied", ""
	if reduces {
		how = "reduced"
	}
	_, _, slot := fullSlots(e.mem.size)
	switch {
	case bytes <= inline:
		return how + " from a line"
	case bytes <= small:
		where = "a slot"
	default:
		where = fmt.Sprintf("slots of up to %d KiB", slot>>10)
	}
	words := how + " from " + where
	if e.mem.size > 2 {
		words += ", shared by the ranks that get the same"
	}
	if bytes >= directFrom {
		words += "; in place from memory of fast.Alloc"
	}
	switch p := &e.peeking; {
	case p.off || bytes < p.from || !p.always && pagemap() < 0:
	case p.oneWay:
		words += "; where the system allows it, by CMA from huge pages"
	case !reduces:
		words += "; where the system allows it, by CMA if both ranks send as much from huge pages"
	}
	return words
}
