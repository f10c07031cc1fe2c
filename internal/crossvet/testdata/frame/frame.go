// Package frame has a function in assembly that reads its argument from the wrong place.
package frame

func f(a, b uint64) uint64
