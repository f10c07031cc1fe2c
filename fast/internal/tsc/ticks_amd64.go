package tsc

// counter returns the processor's time stamp counter.
func counter() int64

// cpuid returns what the CPUID instruction says of a leaf.
func cpuid(leaf uint32) (eax, edx uint32)

// steady: the counter runs at one rate, also while the processor sleeps, and is the same on all cores.
var steady = invariant()

func invariant() bool {
	const advanced, bit = 0x80000007, 1 << 8
	if most, _ := cpuid(0x80000000); most < advanced {
		return false
	}
	_, edx := cpuid(advanced)
	return edx&bit != 0
}
