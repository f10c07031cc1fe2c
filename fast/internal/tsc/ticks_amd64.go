package tsc

// counter returns the processor's time stamp counter.
func counter() int64

// cpuid returns two results of the CPUID instruction for a leaf.
func cpuid(leaf uint32) (eax, edx uint32)

// steady reports whether the counter runs at a constant rate, even while the processor sleeps, and is the same on all
// cores.
var steady = invariant()

func invariant() bool {
	const advanced, bit = 0x80000007, 1 << 8
	if most, _ := cpuid(0x80000000); most < advanced {
		return false
	}
	_, edx := cpuid(advanced)
	return edx&bit != 0
}
