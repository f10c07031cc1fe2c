// Package overflow compiles where an int has 64 bits.
package overflow

const Large int = 1 << 40
