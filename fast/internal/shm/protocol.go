//go:build linux

package shm

import "fmt"

// How a message goes is a matter of its length first: up to inline bytes in its line, up to small bytes in a small
// slot, and else in full slots, each copied in by the sender while the receiver copies or reduces what is in the one
// before. On the way through slots both ranks copy, at once; both copies together take hardly longer than one, because
// what is in a slot goes from one processor's cache to the other's. So the ways without slots are for what they do
// better:
const (
	// directFrom is from which length on a message in memory of fast.Alloc is read where it lies: shorter ones are
	// sooner copied than waited for.
	directFrom = 16 << 10

	// peekFrom is from which length on a message is read in the memory of the sender's process, if both ranks send each
	// other as much, from huge pages. Then both are busy with copies, and those through slots would be twice as many:
	// 512 KiB each way took 22 µs through slots and 15 so, 256 KiB 10 to 15 and 9, 128 KiB 5 and 5. One way, slots take
	// 19 µs for 1 MiB, and this 33.
	peekFrom = 256 << 10

	// crowdedFrom is the same, one way as well, where there are more ranks than processors. Then no processor is left
	// for a second copy beside the first, and no switch of processes is needed for each few segments: a broadcast of 16
	// MiB among 4 ranks on 2 processors took 3.0 ms through slots and 2.5 so, one of 4 MiB 0.4 and 0.25.
	crowdedFrom = 256 << 10

	// piece is how much of such a message is read at a time: the part of the receiver's memory that it goes to stays in
	// the cache between its kernel and what comes after.
	piece = 128 << 10

	// peekPiece is how much is read at a time that nothing is to be done with: a rank that is to give up sees so after
	// that, which is a few milliseconds. Each of these system calls takes 2 µs before it reads anything; 8 MiB took 10
	// % longer in four pieces than in one.
	peekPiece = 16 << 20

	// peekUntold is up to which length Go's scheduler is not told of such a system call. If it were, its monitor would
	// take one that lasts longer than its own turn, some 20 µs, for one that blocks, and wake up on the processor that
	// copies: that was 1 of 17 µs for 512 KiB.
	peekUntold = 1 << 20
)

// Protocol says how this rank sends a message of so many bytes, which is reduced as it arrives or not. It may be called
// at any time, also before it is known whether there is memory for full slots, and whether a receiver can read that of
// this process.
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
