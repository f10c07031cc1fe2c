// Package shifted shifts an int by more bits than it has on some platforms.
package shifted

func f(x int) int { return x << 40 }
