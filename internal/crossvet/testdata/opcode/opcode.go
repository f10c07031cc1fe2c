// Package opcode has an instruction that one platform does not have.
package opcode

func f()
