//go:build amd64 && !purego

package kernel

import "golang.org/x/sys/cpu"

// candidates are all implementations, the best first.
var candidates = []candidate{
	{&avx512, lacks(
		feature{"AVX-512F", cpu.X86.HasAVX512F}, feature{"AVX-512DQ", cpu.X86.HasAVX512DQ},
		feature{"AVX-512BW", cpu.X86.HasAVX512BW}, feature{"AVX-512VL", cpu.X86.HasAVX512VL},
		feature{"BMI2", cpu.X86.HasBMI2})},
	{&avx2, lacks(feature{"AVX2", cpu.X86.HasAVX2}, feature{"F16C", cpu.X86.HasF16C})},
	{&generic, ""},
}

// feature is a part of the instruction set, and whether this processor and its system have it.
type feature struct {
	name string
	has  bool
}

// lacks names a feature that is missing, if any is.
func lacks(features ...feature) string {
	for _, f := range features {
		if !f.has {
			return f.name
		}
	}
	return ""
}

// streams tells whether Go's own copy is the best for what fits into no cache: with processors of AMD.
var streams = func() bool {
	_, b, c, d := cpuid(0)
	return b == 0x68747541 && d == 0x69746e65 && c == 0x444d4163 // AuthenticAMD
}()

// moves tells whether the processor's own loop is the best for what another processor reads next: it announces so
// itself, as "fast short REP MOVSB".
var moves = func() bool {
	last, _, _, _ := cpuid(0)
	if last < 7 {
		return false
	}
	_, _, _, d := cpuid(7)
	return d&(1<<4) != 0
}()
