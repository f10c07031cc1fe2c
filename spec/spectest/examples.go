package spectest

import (
	"math"

	"github.com/collgen/collgen/spec"
)

// Example is one call of a primitive with everything that it is promised to do, as a document other than the
// specification has it.
type Example struct {
	Source    string // the document and its section
	Primitive string
	Root      int
	Peer      int
	Op        spec.Op
	Order     spec.Order

	// In and Out are a [][]T, for an element type T: what each rank passes and what it gets. A rank whose element is
	// nil passes no such buffer. There are as many ranks as In has elements.
	In, Out any
	// Count is the number of elements in a block. Of uneven blocks it is Counts[l[0]][l[1]], where l is the block's
	// Length.
	Count  int
	Counts [][]int
	// InPlace is, by rank, which block of In is the same memory as which block of Out in place; none where a rank
	// cannot be in place. If InPlace is nil the source does not mention it.
	InPlace [][2]int
	// Entered is, by rank, which ranks have entered the call when this rank leaves it, as far as that is promised.
	Entered [][]int
}

// Start returns the first element of block b in a buffer whose blocks are as long as lengths says, one after the other;
// of even blocks, for which lengths is nil, as long as Count says.
func (x Example) Start(lengths []spec.Length, b int) int {
	if len(lengths) < b {
		return b * x.Count
	}
	at := 0
	for _, l := range lengths[:b] {
		if l[0] < 0 || l[0] >= len(x.Counts) || l[1] < 0 || l[1] >= len(x.Counts[l[0]]) {
			return -1
		}
		at += x.Counts[l[0]][l[1]]
	}
	return at
}

var none = [2]int{-1, -1}

var (
	nan32, inf32 = float32(math.NaN()), float32(math.Inf(1))
	zero32       = float32(math.Copysign(0, -1)) // -0
)

// Examples are worked examples from these documents:
//
//	MPI   MPI: A Message-Passing Interface Standard, version 4.1, 2023
//	NCCL  NVIDIA Collective Communication Library documentation, version 2.28
//	IEEE  IEEE Standard for Floating-Point Arithmetic, 754-2019
//	Go    The Go Programming Language Specification
//
// The texts give rules, and a few numbers; the numbers here are theirs where they have any.
var Examples = []Example{
	// Broadcast
	{
		Source:    "MPI 6.4.1, example: broadcast ints from process 0 to every process in the group",
		Primitive: "Broadcast", Count: 3,
		In:  [][]int32{{1, 2, 3}, nil, nil, nil},
		Out: [][]int32{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}},
	},
	{
		Source:    "NCCL ncclBroadcast: sendbuff is only used on rank root; in place if sendbuff == recvbuff",
		Primitive: "Broadcast", Root: 2, Count: 1,
		In:      [][]float32{nil, nil, {7}},
		Out:     [][]float32{{7}, {7}, {7}},
		InPlace: [][2]int{none, none, {0, 0}},
	},

	// Gather
	{
		Source:    "MPI 6.5: messages are concatenated in rank order, and the root receives them",
		Primitive: "Gather", Root: 1, Count: 2,
		In:      [][]int32{{1, 2}, {3, 4}, {5, 6}},
		Out:     [][]int32{nil, {1, 2, 3, 4, 5, 6}, nil},
		InPlace: [][2]int{none, {0, 1}, none},
	},
	{
		Source: "NCCL ncclGather: data from rank i is placed at recvbuff + i*count; in place if " +
			"sendbuff == recvbuff + rank*count",
		Primitive: "Gather", Root: 0, Count: 1,
		In:      [][]int64{{10}, {11}, {12}, {13}},
		Out:     [][]int64{{10, 11, 12, 13}, nil, nil, nil},
		InPlace: [][2]int{{0, 0}, none, none, none},
	},

	// Scatter
	{
		Source: "MPI 6.6: the i-th segment is sent to the i-th process; in place, the root moves " +
			"no data to itself",
		Primitive: "Scatter", Root: 1, Count: 2,
		In:      [][]int32{nil, {1, 2, 3, 4, 5, 6}, nil},
		Out:     [][]int32{{1, 2}, {3, 4}, {5, 6}},
		InPlace: [][2]int{none, {1, 0}, none},
	},
	{
		Source: "NCCL ncclScatter: data for rank i is taken from sendbuff + i*count; in place if " +
			"recvbuff == sendbuff + rank*count",
		Primitive: "Scatter", Root: 2, Count: 1,
		In:      [][]uint8{nil, nil, {4, 5, 6}},
		Out:     [][]uint8{{4}, {5}, {6}},
		InPlace: [][2]int{none, none, {2, 0}},
	},

	// AllGather
	{
		Source: "MPI 6.7: the block of data sent from the j-th process is received by every " +
			"process and placed in the j-th block",
		Primitive: "AllGather", Count: 2,
		In:      [][]int32{{1, 2}, {3, 4}, {5, 6}},
		Out:     [][]int32{{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}},
		InPlace: [][2]int{{0, 0}, {0, 1}, {0, 2}},
	},
	{
		Source:    "NCCL AllGather: out[Y*count+i] = inY[i]; in place if sendbuff == recvbuff + rank*sendcount",
		Primitive: "AllGather", Count: 1,
		In:      [][]float32{{1}, {2}, {3}, {4}},
		Out:     [][]float32{{1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}},
		InPlace: [][2]int{{0, 0}, {0, 1}, {0, 2}, {0, 3}},
	},

	// AllToAll
	{
		Source: "MPI 6.8: the j-th block sent from process i is received by process j and placed " +
			"in the i-th block",
		Primitive: "AllToAll", Count: 1,
		In:      [][]int32{{11, 12, 13}, {21, 22, 23}, {31, 32, 33}},
		Out:     [][]int32{{11, 21, 31}, {12, 22, 32}, {13, 23, 33}},
		InPlace: [][2]int{{0, 0}, {0, 0}, {0, 0}},
	},
	{
		Source: "NCCL ncclAlltoAll: data for rank j is taken from sendbuff + j*count, data from " +
			"rank i is placed at recvbuff + i*count",
		Primitive: "AllToAll", Count: 2,
		In:  [][]uint8{{1, 2, 3, 4}, {5, 6, 7, 8}},
		Out: [][]uint8{{1, 2, 5, 6}, {3, 4, 7, 8}},
	},

	// Reduce
	{
		Source: "MPI 6.9.1: combines the elements of each process's input buffer and returns the " +
			"value at the root",
		Primitive: "Reduce", Root: 1, Op: spec.OpMax, Count: 2,
		In:      [][]int32{{1, 9}, {5, 2}, {3, 4}},
		Out:     [][]int32{nil, {5, 9}, nil},
		InPlace: [][2]int{none, {0, 0}, none},
	},
	{
		Source:    "MPI 6.9.2, example: the dot product of two vectors, returned at node zero",
		Primitive: "Reduce", Root: 0, Op: spec.OpSum, Count: 1,
		In:  [][]float64{{1*4 + 2*5}, {3 * 6}},
		Out: [][]float64{{32}, nil},
	},
	{
		Source:    "NCCL Reduce: as AllReduce, but the result is stored only in the receive buffer of the root",
		Primitive: "Reduce", Root: 2, Op: spec.OpSum, Count: 1,
		In:      [][]float32{{1}, {2}, {3}, {4}},
		Out:     [][]float32{nil, nil, {10}, nil},
		InPlace: [][2]int{none, none, {0, 0}, none},
	},

	// Scan and Exscan
	{
		Source:    "MPI 6.11.1, MPI_Scan: process i gets the reduction of the values of processes 0,…,i (inclusive)",
		Primitive: "Scan", Op: spec.OpSum, Count: 2,
		In:      [][]int32{{1, 10}, {2, 20}, {3, 30}, {4, 40}},
		Out:     [][]int32{{1, 10}, {3, 30}, {6, 60}, {10, 100}},
		InPlace: [][2]int{{0, 0}, {0, 0}, {0, 0}, {0, 0}},
	},
	{
		Source:    "MPI 6.11.1, MPI_Scan with MPI_MAX",
		Primitive: "Scan", Op: spec.OpMax, Count: 1,
		In:      [][]int32{{3}, {-1}, {7}, {5}, {8}},
		Out:     [][]int32{{3}, {3}, {7}, {7}, {8}},
		InPlace: [][2]int{{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},
	},
	{
		Source:    "MPI 6.11.1, on MPI_COMM_SELF: the only operand is the result",
		Primitive: "Scan", Op: spec.OpProd, Count: 1,
		In:      [][]int32{{9}},
		Out:     [][]int32{{9}},
		InPlace: [][2]int{{0, 0}},
	},
	{
		Source: "MPI 6.11.2, MPI_Exscan: process i > 0 gets the reduction of the values of processes 0,…,i-1; " +
			"recvbuf is not significant on process 0",
		Primitive: "Exscan", Op: spec.OpSum, Count: 2,
		In:      [][]int32{{1, 10}, {2, 20}, {3, 30}, {4, 40}},
		Out:     [][]int32{nil, {1, 10}, {3, 30}, {6, 60}},
		InPlace: [][2]int{none, {0, 0}, {0, 0}, {0, 0}},
	},
	{
		Source:    "MPI 6.11.2, MPI_Exscan: process 1 gets the value of process 0",
		Primitive: "Exscan", Op: spec.OpProd, Count: 1,
		In:      [][]float64{{1.5}, {4}},
		Out:     [][]float64{nil, {1.5}},
		InPlace: [][2]int{none, {0, 0}},
	},

	{
		Source:    "MPI 6.11.2, MPI_Exscan on MPI_COMM_SELF: recvbuf is not significant on process 0",
		Primitive: "Exscan", Op: spec.OpSum, Count: 1,
		In:      [][]int32{{9}},
		Out:     [][]int32{nil},
		InPlace: [][2]int{none},
	},

	// AllReduce, and the operators
	{
		Source:    "NCCL AllReduce: identical results out[i] = in0[i]+in1[i]+…+in(k-1)[i] on all ranks",
		Primitive: "AllReduce", Op: spec.OpSum, Order: spec.SameTree, Count: 2,
		In:      [][]float32{{1, 10}, {2, 20}, {3, 30}, {4, 40}},
		Out:     [][]float32{{10, 100}, {10, 100}, {10, 100}, {10, 100}},
		InPlace: [][2]int{{0, 0}, {0, 0}, {0, 0}, {0, 0}},
	},
	{
		Source:    "MPI 6.9.6, example: each process computes part of a vector-matrix product, and all get the sum",
		Primitive: "AllReduce", Op: spec.OpSum, Order: spec.SameTree, Count: 2,
		In:  [][]float64{{1, 2}, {6, 8}},
		Out: [][]float64{{7, 10}, {7, 10}},
	},
	{
		Source:    "MPI 6.9.2, MPI_PROD on complex numbers",
		Primitive: "AllReduce", Op: spec.OpProd, Order: spec.SameTree, Count: 1,
		In:  [][]complex64{{1 + 2i}, {3 + 4i}},
		Out: [][]complex64{{-5 + 10i}, {-5 + 10i}},
	},
	{
		Source:    "MPI 6.9.2, MPI_SUM on complex numbers",
		Primitive: "AllReduce", Op: spec.OpSum, Order: spec.SameTree, Count: 1,
		In:  [][]complex128{{1 + 2i}, {3 - 4i}, {-1}},
		Out: [][]complex128{{3 - 2i}, {3 - 2i}, {3 - 2i}},
	},
	{
		Source: "MPI 6.9.2, MPI_MIN", Primitive: "AllReduce", Op: spec.OpMin, Order: spec.SameTree, Count: 2,
		In:  [][]int8{{3, -128}, {-7, 127}, {5, 0}},
		Out: [][]int8{{-7, -128}, {-7, -128}, {-7, -128}},
	},
	{
		Source: "MPI 6.9.2, MPI_BAND", Primitive: "AllReduce", Op: spec.OpBAnd, Order: spec.SameTree, Count: 1,
		In:  [][]uint8{{0b1110}, {0b0111}, {0b1100}},
		Out: [][]uint8{{0b0100}, {0b0100}, {0b0100}},
	},
	{
		Source: "MPI 6.9.2, MPI_BOR", Primitive: "AllReduce", Op: spec.OpBOr, Order: spec.SameTree, Count: 1,
		In:  [][]uint16{{0b1000}, {0b0001}, {0b1001}},
		Out: [][]uint16{{0b1001}, {0b1001}, {0b1001}},
	},
	{
		Source: "MPI 6.9.2, MPI_BXOR", Primitive: "AllReduce", Op: spec.OpBXor, Order: spec.SameTree, Count: 1,
		In:  [][]uint32{{0b1100}, {0b1010}, {0b0001}},
		Out: [][]uint32{{0b0111}, {0b0111}, {0b0111}},
	},
	{
		Source:    "MPI 6.9.2, MPI_LAND: C has 1 for true",
		Primitive: "AllReduce", Op: spec.OpLAnd, Order: spec.SameTree, Count: 3,
		In:  [][]int32{{2, 0, 0}, {4, 5, 0}},
		Out: [][]int32{{1, 0, 0}, {1, 0, 0}},
	},
	{
		Source:    "MPI 6.9.2, MPI_LOR: C has 1 for true",
		Primitive: "AllReduce", Op: spec.OpLOr, Order: spec.SameTree, Count: 3,
		In:  [][]uint64{{2, 0, 0}, {4, 5, 0}},
		Out: [][]uint64{{1, 1, 0}, {1, 1, 0}},
	},
	{
		Source:    "MPI 6.9.4, MPI_MINLOC: the smallest value; of equal ones, the smallest index",
		Primitive: "AllReduce", Op: spec.OpMinLoc, Order: spec.SameTree, Count: 3,
		In:  [][]complex128{{3 + 0i, 5 + 0i, -1 + 9i}, {2 + 1i, 5 + 1i, -1 + 4i}},
		Out: [][]complex128{{2 + 1i, 5 + 0i, -1 + 4i}, {2 + 1i, 5 + 0i, -1 + 4i}},
	},
	{
		Source:    "MPI 6.9.4, example: the largest of the values of all processes, and which process has it",
		Primitive: "Reduce", Root: 0, Op: spec.OpMaxLoc, Count: 2,
		In:  [][]complex64{{3.5 + 0i, 7 + 0i}, {4 + 1i, 7 + 1i}, {-9 + 2i, 7 + 2i}},
		Out: [][]complex64{{4 + 1i, 7 + 0i}, nil, nil},
	},
	{
		Source:    "NCCL ncclAvg: a sum across all ranks, divided by the number of ranks",
		Primitive: "AllReduce", Op: spec.OpAvg, Order: spec.SameTree, Count: 2,
		In:  [][]float32{{1, -3}, {2, 0}},
		Out: [][]float32{{1.5, -1.5}, {1.5, -1.5}},
	},
	{
		Source:    "Go, arithmetic operators: integer quotients are truncated toward zero",
		Primitive: "AllReduce", Op: spec.OpAvg, Order: spec.SameTree, Count: 2,
		In:  [][]int32{{7, -7}, {0, 0}},
		Out: [][]int32{{3, -3}, {3, -3}},
	},
	{
		Source:    "Go, integer overflow: unsigned integers wrap around, and the quotient is that of the wrapped sum",
		Primitive: "AllReduce", Op: spec.OpAvg, Order: spec.SameTree, Count: 1,
		In:  [][]uint8{{200}, {100}},
		Out: [][]uint8{{22}, {22}},
	},
	{
		Source:    "Go, integer overflow: signed integers wrap around in two's complement",
		Primitive: "AllReduce", Op: spec.OpSum, Order: spec.SameTree, Count: 2,
		In:  [][]int64{{math.MaxInt64, math.MinInt64}, {1, -1}},
		Out: [][]int64{{math.MinInt64, math.MaxInt64}, {math.MinInt64, math.MaxInt64}},
	},
	{
		Source:    "Go, integer overflow: signed integers wrap around in two's complement",
		Primitive: "AllReduce", Op: spec.OpProd, Order: spec.SameTree, Count: 1,
		In:  [][]int16{{300}, {300}},
		Out: [][]int16{{24464}, {24464}},
	},
	{
		Source:    "IEEE 9.6, minimum: a NaN if either operand is one, and -0 is less than +0",
		Primitive: "AllReduce", Op: spec.OpMin, Order: spec.SameTree, Count: 4,
		In:  [][]float32{{nan32, 0, inf32, -inf32}, {1, zero32, 2, nan32}},
		Out: [][]float32{{nan32, zero32, 2, nan32}, {nan32, zero32, 2, nan32}},
	},
	{
		Source:    "IEEE 9.6, maximum: a NaN if either operand is one, and +0 is greater than -0",
		Primitive: "AllReduce", Op: spec.OpMax, Order: spec.SameTree, Count: 4,
		In:  [][]float32{{1, zero32, inf32, -inf32}, {nan32, 0, 2, -2}},
		Out: [][]float32{{nan32, 0, inf32, -2}, {nan32, 0, inf32, -2}},
	},
	{
		Source:    "IEEE 6.2 and 7.2: Inf - Inf is a NaN, and -0 + -0 is -0",
		Primitive: "AllReduce", Op: spec.OpSum, Order: spec.SameTree, Count: 3,
		In:  [][]float32{{inf32, zero32, zero32}, {-inf32, zero32, 0}},
		Out: [][]float32{{nan32, zero32, 0}, {nan32, zero32, 0}},
	},
	{
		Source:    "MPI 6.9.2: logical types, of which C bool is one, have a logical and",
		Primitive: "AllReduce", Op: spec.OpLAnd, Order: spec.SameTree, Count: 3,
		In:  [][]bool{{true, true, false}, {true, false, false}},
		Out: [][]bool{{true, false, false}, {true, false, false}},
	},
	{
		Source:    "MPI 6.9.2: and a logical or",
		Primitive: "AllReduce", Op: spec.OpLOr, Order: spec.SameTree, Count: 3,
		In:  [][]bool{{true, true, false}, {true, false, false}},
		Out: [][]bool{{true, true, false}, {true, true, false}},
	},
	{
		Source:    "OFP8 revision 1.0, E4M3: ties go to even, the largest number is 448, and there is no infinity",
		Primitive: "AllReduce", Op: spec.OpSum, Order: spec.SameTree, Count: 4,
		In:  [][]spec.Float8E4M3{e4m3(16, 16, 448, 448), e4m3(1, 3, 16, 32)},
		Out: [][]spec.Float8E4M3{e4m3(16, 20, 448, nan32), e4m3(16, 20, 448, nan32)},
	},
	{
		Source:    "OFP8 revision 1.0, E5M2: ties go to even, and overflow to infinity",
		Primitive: "AllReduce", Op: spec.OpSum, Order: spec.SameTree, Count: 3,
		In:  [][]spec.Float8E5M2{e5m2(8, 8, 57344), e5m2(1, 3, 4096)},
		Out: [][]spec.Float8E5M2{e5m2(8, 12, inf32), e5m2(8, 12, inf32)},
	},
	{
		Source:    "IEEE 4.3.1, binary16: ties go to even, and overflow to infinity",
		Primitive: "AllReduce", Op: spec.OpSum, Order: spec.SameTree, Count: 3,
		In:  [][]spec.Float16{halves(2048, 2048, 65504), halves(1, 3, 16)},
		Out: [][]spec.Float16{halves(2048, 2052, inf32), halves(2048, 2052, inf32)},
	},
	{
		Source:    "IEEE 4.3.1, applied to a precision of 8 bits: ties go to even",
		Primitive: "AllReduce", Op: spec.OpSum, Order: spec.SameTree, Count: 2,
		In:  [][]spec.BFloat16{brains(256, 256), brains(1, 3)},
		Out: [][]spec.BFloat16{brains(256, 260), brains(256, 260)},
	},

	// ReduceScatter
	{
		Source:    "MPI 6.10.1: the i-th block of the reduced vector is sent to process i",
		Primitive: "ReduceScatter", Op: spec.OpSum, Count: 2,
		In:  [][]int32{{1, 2, 3, 4}, {10, 20, 30, 40}},
		Out: [][]int32{{11, 22}, {33, 44}},
	},
	{
		Source: "NCCL ReduceScatter: outY[i] = in0[Y*count+i]+in1[Y*count+i]+…; in place if " +
			"recvbuff == sendbuff + rank*recvcount",
		Primitive: "ReduceScatter", Op: spec.OpSum, Count: 1,
		In:      [][]float32{{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}, {4, 4, 4, 4}},
		Out:     [][]float32{{10}, {10}, {10}, {10}},
		InPlace: [][2]int{{0, 0}, {1, 0}, {2, 0}, {3, 0}},
	},
	{
		Source: "MPI 6.10.1, with the operator MPI_PROD", Primitive: "ReduceScatter", Op: spec.OpProd, Count: 1,
		In:  [][]int32{{2, 3, 5}, {7, 11, 13}, {17, 19, 23}},
		Out: [][]int32{{2 * 7 * 17}, {3 * 11 * 19}, {5 * 13 * 23}},
	},

	// Barrier
	{
		Source:    "MPI 6.3: the call returns at any process only after all group members have entered the call",
		Primitive: "Barrier",
		In:        [][]uint8{nil, nil, nil},
		Out:       [][]uint8{nil, nil, nil},
		InPlace:   [][2]int{none, none, none},
		Entered:   [][]int{{0, 1, 2}, {0, 1, 2}, {0, 1, 2}},
	},

	// Send
	{
		Source:    "MPI 3.1, example: process zero sends a message to process one",
		Primitive: "Send", Root: 0, Peer: 1, Count: 5,
		In:      [][]uint8{[]uint8("Hello"), nil},
		Out:     [][]uint8{nil, []uint8("Hello")},
		InPlace: [][2]int{none, none},
	},
	{
		Source:    "NCCL ncclSend, ncclRecv: the peers call them with each other's rank; other ranks take no part",
		Primitive: "Send", Root: 3, Peer: 1, Count: 1,
		In:      [][]float32{nil, nil, nil, {3}},
		Out:     [][]float32{nil, {3}, nil, nil},
		InPlace: [][2]int{none, none, none, none},
	},
	{
		Source:    "NCCL point-to-point, one-to-all (scatter): the root sends to each peer",
		Primitive: "Send", Root: 0, Peer: 2, Count: 2,
		In:  [][]int64{{1, 2}, nil, nil},
		Out: [][]int64{nil, nil, {1, 2}},
	},
	{
		Source:    "NCCL point-to-point, all-to-one (gather): each peer sends to the root",
		Primitive: "Send", Root: 1, Peer: 0, Count: 1,
		In:  [][]int64{nil, {9}},
		Out: [][]int64{{9}, nil},
	},

	// One rank
	{
		Source: "MPI 6.4, on MPI_COMM_SELF: the root's content stays", Primitive: "Broadcast", Count: 2,
		In:      [][]int32{{8, 9}},
		Out:     [][]int32{{8, 9}},
		InPlace: [][2]int{{0, 0}},
	},
	{
		Source: "MPI 6.5, on MPI_COMM_SELF: the root sends to itself", Primitive: "Gather", Count: 2,
		In:      [][]int32{{8, 9}},
		Out:     [][]int32{{8, 9}},
		InPlace: [][2]int{{0, 0}},
	},
	{
		Source: "MPI 6.6, on MPI_COMM_SELF: the root sends to itself", Primitive: "Scatter", Count: 2,
		In:      [][]int32{{8, 9}},
		Out:     [][]int32{{8, 9}},
		InPlace: [][2]int{{0, 0}},
	},
	{
		Source: "MPI 6.7, on MPI_COMM_SELF: the only block is the rank's own", Primitive: "AllGather", Count: 2,
		In:      [][]int32{{8, 9}},
		Out:     [][]int32{{8, 9}},
		InPlace: [][2]int{{0, 0}},
	},
	{
		Source: "MPI 6.8, on MPI_COMM_SELF: the only block is the rank's own", Primitive: "AllToAll", Count: 2,
		In:      [][]int32{{8, 9}},
		Out:     [][]int32{{8, 9}},
		InPlace: [][2]int{{0, 0}},
	},
	{
		Source:    "MPI 6.9.1, on MPI_COMM_SELF: the only operand is the result",
		Primitive: "Reduce", Op: spec.OpSum, Count: 2,
		In:      [][]int32{{8, 9}},
		Out:     [][]int32{{8, 9}},
		InPlace: [][2]int{{0, 0}},
	},
	{
		Source:    "MPI 6.10.1, on MPI_COMM_SELF: the only operand is the result",
		Primitive: "ReduceScatter", Op: spec.OpSum, Count: 2,
		In:      [][]int32{{8, 9}},
		Out:     [][]int32{{8, 9}},
		InPlace: [][2]int{{0, 0}},
	},
	{
		Source:    "MPI 6.9.6, on MPI_COMM_SELF: the only operand is the result, also of MPI_LAND",
		Primitive: "AllReduce",
		Op:        spec.OpLAnd, Order: spec.SameTree, Count: 1,
		In:      [][]int32{{5}},
		Out:     [][]int32{{5}},
		InPlace: [][2]int{{0, 0}},
	},
}

func e4m3(x ...float32) []spec.Float8E4M3 {
	all := make([]spec.Float8E4M3, len(x))
	for i := range x {
		all[i] = spec.NewFloat8E4M3(x[i])
	}
	return all
}

func e5m2(x ...float32) []spec.Float8E5M2 {
	all := make([]spec.Float8E5M2, len(x))
	for i := range x {
		all[i] = spec.NewFloat8E5M2(x[i])
	}
	return all
}

func halves(x ...float32) []spec.Float16 {
	all := make([]spec.Float16, len(x))
	for i := range x {
		all[i] = spec.NewFloat16(x[i])
	}
	return all
}

func brains(x ...float32) []spec.BFloat16 {
	all := make([]spec.BFloat16, len(x))
	for i := range x {
		all[i] = spec.NewBFloat16(x[i])
	}
	return all
}

// Refusal is a call that a primitive has to refuse.
type Refusal struct {
	Source    string
	Primitive string
	Call      spec.Call
}

// Refusals are calls that have to be refused.
var Refusals = func() []Refusal {
	var all []Refusal
	for _, p := range []string{"Broadcast", "Gather", "Reduce", "Scatter", "GatherV", "ScatterV"} {
		for _, root := range []int{-5, -1, 3, 7} {
			all = append(all, Refusal{"MPI 9.4, MPI_ERR_ROOT: invalid root", p, spec.Call{Size: 3, Root: root}})
		}
	}
	for _, r := range []int{-5, -1, 3, 7} {
		all = append(all,
			Refusal{"MPI 9.4, MPI_ERR_RANK: invalid rank", "Send", spec.Call{Size: 3, Root: r, Peer: 1}},
			Refusal{"MPI 9.4, MPI_ERR_RANK: invalid rank", "Send", spec.Call{Size: 3, Root: 1, Peer: r}})
	}
	for r := range 3 {
		const source = "MPI 3.2.4: to send to oneself with a blocking send is unsafe"
		all = append(all, Refusal{source, "Send", spec.Call{Size: 3, Root: r, Peer: r}})
	}
	return all
}()
