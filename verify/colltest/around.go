package colltest

import "slices"

// mostAround is how many bytes before and behind a buffer are inverted while a call is open: those that a vector of it
// may contain.
const mostAround = leastGuard / 2

// invertAround inverts the memory beside the blocks of Out: all between them, and a little before and behind them, but
// nothing of In and its gaps. A rank without Out has it inverted beside In.
func (c *Call) invertAround() {
	used := [][2]int{{c.InAt, c.InAt + len(c.In())}}
	begin, end := used[0][0], used[0][1]
	if c.OutCounts != nil {
		begin, end = c.OutAt, c.OutAt+len(c.Out())
	}
	for b, n := range c.OutCounts {
		at := c.OutAt
		if c.OutStarts != nil {
			at += c.OutStarts[b] * c.Type.Bytes()
		} else {
			at += total(c.OutCounts[:b]) * c.Type.Bytes()
		}
		used = append(used, [2]int{at, at + n*c.Type.Bytes()})
	}
	slices.SortFunc(used, func(a, b [2]int) int { return a[0] - b[0] })
	at := max(0, begin-mostAround)
	end = min(len(c.Memory), end+mostAround)
	for _, block := range used {
		if block[0] < block[1] {
			invert(c.Memory, at, min(block[0], end))
			at = max(at, block[1])
		}
	}
	invert(c.Memory, at, end)
}

// invert inverts the bytes from at to end, if there are any.
func invert(memory []byte, at, end int) {
	for ; at < end; at++ {
		memory[at] ^= 0xff
	}
}
