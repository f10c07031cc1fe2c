//go:build !amd64 || purego

package kernel

// candidates are all implementations, the best first.
var candidates = []candidate{{&generic, ""}}
