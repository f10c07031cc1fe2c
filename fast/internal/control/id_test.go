package control

import "testing"

// TestDeriveID: the numbers of related communicators differ in about half of their bits.
func TestDeriveID(t *testing.T) {
	const flips = 62
	for bit := range flips {
		differ := 0
		for i := range uint64(64) {
			for x := (DeriveID(i, 7) ^ DeriveID(i, 7^1<<bit)) << 1; x != 0; x &= x - 1 {
				differ++
			}
		}
		if average := float64(differ) / 64; average < 28 || average > 35 {
			t.Errorf("bit %d of the salt changes %.1f bits of 63", bit, average)
		}
	}
}
