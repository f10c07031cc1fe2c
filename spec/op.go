package spec

// Op is a reduction operator.
type Op uint8

// The operators. The zero Op is none.
const (
	OpSum Op = iota + 1
	OpProd
	OpMin
	OpMax
	OpAvg
	OpBAnd
	OpBOr
	OpBXor
	OpLAnd
	OpLOr
)
