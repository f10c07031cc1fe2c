//go:build !amd64 || purego

package kernel

// candidates are all implementations, the best first.
var candidates = []candidate{{&generic, ""}}

// streams tells whether Go's own copy is the best for what fits into no cache. It is all that there is here.
const streams = false

// moves tells whether the processor has a loop of its own that is better.
const moves = false

func moveBytes(dst, src []byte) { copy(dst, src) }
