package rdma

// An immediate says what was written, in its two highest bits, and the low bits of a number. Numbers of 32 bits count
// from anywhere and wrap around: only differences of two of them have a meaning, and those are less than the number of
// slots.
const (
	immSegment    uint32 = iota << 30 // a segment, by its number: in the slot of that number
	immAside                          // what is said besides, by its number
	immFreed                          // how many segments have been taken: up to that number. No bytes were written
	immAsideFreed                     // the same of what is said besides
	immKinds      = 3 << 30
	immStripe     = 0 // on a lane beside the main one, where there is no other kind: all of a message has been written, by its number
	immNumbers    = 1<<30 - 1
)

// immediate returns that of a kind and number.
func immediate(kind, n uint32) uint32 { return kind | n&immNumbers }

// ahead returns how far the number of an immediate is ahead of n. What is behind it is far ahead.
func ahead(imm, n uint32) uint32 { return (imm - n) & immNumbers }
