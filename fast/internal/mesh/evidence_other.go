//go:build !linux

package mesh

// examine says nothing: the system does not tell of other processes.
func examine(int) (evidence, bool) { return evidence{}, false }
