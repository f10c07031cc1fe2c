package spectest

import "github.com/collgen/collgen/spec"

// Uneven are worked examples of the primitives whose blocks are uneven, from the MPI standard, as Examples are.
var Uneven = []Example{
	{
		Source: "MPI 6.5: GatherV: the data received from process j is placed at the offset displs[j] of the " +
			"root's buffer",
		Primitive: "GatherV", Root: 1, Counts: [][]int{{2}, {0}, {3}},
		In:      [][]int32{{1, 2}, {}, {3, 4, 5}},
		Out:     [][]int32{nil, {1, 2, 3, 4, 5}, nil},
		InPlace: [][2]int{none, {0, 1}, none},
	},
	{
		Source:    "MPI 6.5: GatherV: only the root receives, here the first of two ranks",
		Primitive: "GatherV", Root: 0, Counts: [][]int{{1}, {2}},
		In:      [][]uint8{{7}, {8, 9}},
		Out:     [][]uint8{{7, 8, 9}, nil},
		InPlace: [][2]int{{0, 0}, none},
	},
	{
		Source:    "MPI 6.5: GatherV: only the root receives, here the last of three ranks",
		Primitive: "GatherV", Root: 2, Counts: [][]int{{0}, {0}, {2}},
		In:  [][]uint8{{}, {}, {8, 9}},
		Out: [][]uint8{nil, nil, {8, 9}},
	},
	{
		Source:    "MPI 6.5: GatherV: a rank alone has its own data",
		Primitive: "GatherV", Counts: [][]int{{3}},
		In:  [][]uint8{{7, 8, 9}},
		Out: [][]uint8{{7, 8, 9}},
	},
	{
		Source:    "MPI 6.6: ScatterV: only the root sends, here the first of three ranks",
		Primitive: "ScatterV", Root: 0, Counts: [][]int{{1}, {2}, {0}},
		In:      [][]uint8{{7, 8, 9}, nil, nil},
		Out:     [][]uint8{{7}, {8, 9}, {}},
		InPlace: [][2]int{{0, 0}, none, none},
	},
	{
		Source:    "MPI 6.6: ScatterV: a rank alone has its own data",
		Primitive: "ScatterV", Counts: [][]int{{3}},
		In:  [][]uint8{{7, 8, 9}},
		Out: [][]uint8{{7, 8, 9}},
	},
	{
		Source:    "MPI 6.7: AllGatherV: a rank alone has its own data",
		Primitive: "AllGatherV", Counts: [][]int{{3}},
		In:  [][]uint8{{7, 8, 9}},
		Out: [][]uint8{{7, 8, 9}},
	},
	{
		Source:    "MPI 6.8: AllToAllV: a rank alone has its own data",
		Primitive: "AllToAllV", Counts: [][]int{{3}},
		In:  [][]uint8{{7, 8, 9}},
		Out: [][]uint8{{7, 8, 9}},
	},
	{
		Source:    "MPI 6.10.2, MPI_REDUCE_SCATTER: a rank alone has its own data",
		Primitive: "ReduceScatterV", Op: spec.OpSum, Counts: [][]int{{3}},
		In:  [][]uint8{{7, 8, 9}},
		Out: [][]uint8{{7, 8, 9}},
	},
	{
		Source:    "MPI 6.6: ScatterV: the root sends sendcounts[i] elements to process i",
		Primitive: "ScatterV", Root: 2, Counts: [][]int{{1}, {3}, {2}},
		In:      [][]int32{nil, nil, {1, 2, 3, 4, 5, 6}},
		Out:     [][]int32{{1}, {2, 3, 4}, {5, 6}},
		InPlace: [][2]int{none, none, {2, 0}},
	},
	{
		Source: "MPI 6.7: AllGatherV: the block of data sent from the j-th process is received by every process in the " +
			"j-th block; these need not all be of the same size",
		Primitive: "AllGatherV", Counts: [][]int{{2}, {0}, {1}},
		In:      [][]int32{{1, 2}, {}, {3}},
		Out:     [][]int32{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}},
		InPlace: [][2]int{{0, 0}, {0, 1}, {0, 2}},
	},
	{
		Source: "MPI 6.8: AllToAllV: the j-th block sent from process i is received by process j and placed in " +
			"its i-th block",
		Primitive: "AllToAllV", Counts: [][]int{{1, 2}, {0, 3}},
		In:      [][]int32{{1, 2, 3}, {4, 5, 6}},
		Out:     [][]int32{{1}, {2, 3, 4, 5, 6}},
		InPlace: [][2]int{none, none},
	},
	{
		Source:    "MPI 6.10.2, MPI_REDUCE_SCATTER: the i-th segment, of recvcounts[i] elements, is sent to process i",
		Primitive: "ReduceScatterV", Op: spec.OpSum, Counts: [][]int{{1}, {2}, {0}},
		In:      [][]int64{{1, 2, 3}, {10, 20, 30}, {100, 200, 300}},
		Out:     [][]int64{{111}, {222, 333}, {}},
		InPlace: [][2]int{{0, 0}, {1, 0}, {2, 0}},
	},
}
