//go:build !linux

package mesh

// examine returns false: the system does not tell.
func examine(int) (evidence, bool) { return evidence{}, false }
