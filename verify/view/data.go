// Package view makes the data of a page that shows a schedule: its ranks, messages and memory round by round, when each
// promise of the specification holds, and what is wrong. It carries the schedule out on names of inputs, and has the
// verdict from package verify.
package view

import "github.com/collgen/collgen/spec"

// Data is what a page shows of one call. Lists of numbers that belong together are flat: the page of 64 ranks stays
// small.
//
// A moment is a number of rounds that are over: moment 0 is before the call. A cell is a chunk of a buffer of a rank,
// or a slot of its scratch. A node is what a cell holds: the node of a cell's number is what that cell held before the
// call, and the nodes from Cells on are in Inner.
type Data struct {
	Name      string   `json:"name"`      // of the algorithm
	Primitive string   `json:"primitive"` // "AllReduce"
	Doc       string   `json:"doc,omitempty"`
	Source    string   `json:"source,omitempty"`
	Promise   string   `json:"promise"`         // what the primitive is for, in words
	Order     string   `json:"order,omitempty"` // what is promised of the order of a reduction
	Call      string   `json:"call"`            // "4 ranks, root 1"
	Size      int      `json:"size"`
	Depth     int      `json:"depth"`
	Chunks    int      `json:"chunks"` // of a block
	Folds     bool     `json:"folds"`  // whether there is a reduction
	InPlace   bool     `json:"inPlace"`
	Clipped   string   `json:"clipped,omitempty"` // why the page shows a part alone; empty: it shows everything
	Proof     []string `json:"proof"`             // what was proved, in sentences; empty where there is a Failure
	Failure   *Failure `json:"failure,omitempty"`
	Layout    Layout   `json:"layout"`

	Cells     int      `json:"cells"`
	Buffers   []Buffer `json:"buffers"`
	Undefined []int    `json:"undefined,omitempty"` // cells of In of which nothing is promised before the call
	// by rank, pairs of cells that are one place where the call is in place: of Out, or -1, and of In, or -1
	Held [][]int `json:"held"`

	Rounds   int     `json:"rounds"` // how many there are
	Phases   []Phase `json:"phases"`
	Messages []int   `json:"messages"` // messageFields numbers each, see [run.message]
	Locals   [][]int `json:"locals"`   // kind, rank, round, destination, sources; see [run.local]
	Writes   []int   `json:"writes"`   // round, cell and node, by round
	Stuck    []Stuck `json:"stuck,omitempty"`

	Inner []int   `json:"inner"` // pairs of operands; Finished as the second one: the first is finished; Met twice: no data
	Sets  [][]int `json:"sets"`  // sets of ranks, as pairs: the first rank, and the one after the last
	SetOf []int   `json:"setOf"` // by inner node, the index in Sets of those that contribute

	Clauses []Clause `json:"clauses"`
	Wrong   []int    `json:"wrong,omitempty"` // the cells that do not hold in the end what they should; where there is a Failure
	Costs   *Costs   `json:"costs,omitempty"`
	Go      string   `json:"go,omitempty"`   // the generated function, if it is at hand
	Plan    string   `json:"plan,omitempty"` // the schedule as a plan file, where that is short
}

// Finished and Met are operands in Inner that are no nodes.
const (
	Finished = -1
	Met      = -2
)

// Buffer is a buffer of all ranks.
type Buffer struct {
	Name spec.Buf `json:"name"` // "met" is no buffer: it is who has entered, as far as the rank knows
	Base []int    `json:"base"` // by rank, the first cell
	Len  []int    `json:"len"`  // by rank, the number of cells
}

// Clause is a condition of the specification, and when it holds.
type Clause struct {
	Words   string `json:"words"`
	Formula string `json:"formula,omitempty"`
	Since   []int  `json:"since"` // by rank, the moment from which on it holds; Never or Silent
}

// Never and Silent are no moments: of a clause that does not hold in the end, and of one that says nothing of a rank.
const (
	Never  = -1
	Silent = -2
)

// Stuck is what a rank waits for for ever.
type Stuck struct {
	Rank  int    `json:"rank"`
	Round int    `json:"round"`
	Text  string `json:"text"`
}

// Failure is a counterexample.
type Failure struct {
	Check    string `json:"check"`
	Meaning  string `json:"meaning"`
	Rank     int    `json:"rank"`  // -1: not about one rank
	Round    int    `json:"round"` // -1: not about one instruction
	Cells    []int  `json:"cells"` // that hold something wrong
	Place    string `json:"place,omitempty"`
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
	Text     string `json:"text"` // all of it, in lines
}

// Phase is consecutive rounds in which the same happens.
type Phase struct {
	From  int    `json:"from"` // the first round
	To    int    `json:"to"`   // the round after the last
	Words string `json:"words"`
}
