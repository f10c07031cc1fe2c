//go:build !amd64 || purego

package kernel

// candidates are all implementations, the best first.
var candidates = []candidate{{&generic, ""}}

// moves tells whether the processor has a loop of its own that is better.
const moves = false

func moveBytes(dst, src []byte) { copy(dst, src) }
