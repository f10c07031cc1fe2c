package wire

// Mix returns the output function of SplitMix64, after it has added its constant: a bijection of which each bit of the
// result depends on each of x (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
// 2014, with the constants of S. Vigna's splitmix64.c).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
