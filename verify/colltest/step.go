package colltest

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// Case is a list of calls, of one or several primitives, that all ranks make one after the other, without a barrier in
// between.
type Case struct {
	Size int
	// Comms are communicators that the ranks make before the first call, and free after the last one, unless Between says
	// otherwise.
	Comms []Split `json:",omitempty"`
	Steps []Step
	// Order is the number from which the order of waits for started calls is drawn, of each rank, and where that of other
	// calls is free, their order, too. If it is odd, ranks wait after the last call. If it is even, persistent calls that
	// are next to each other begin one round apart, and are closed before the next one is prepared. 0: ranks wait in the
	// order of Steps.
	Order uint64 `json:",omitzero"`
}

// with returns c with other calls.
func (c Case) with(steps []Step) Case {
	c.Steps = steps
	return c
}

// Step is one call of all ranks, as plain data that determines everything else about it.
type Step struct {
	Primitive string
	Type      spec.Type
	Op        spec.Op `json:",omitzero"`
	Root      int     `json:",omitzero"`
	Peer      int     `json:",omitzero"`
	Comm      int     `json:",omitzero"` // of Comms, from 1; 0: that of all ranks
	Color     int     `json:",omitzero"` // of the ranks that make the call, if Comm is not 0
	Mode      Mode    `json:",omitzero"`
	Tag       int     `json:",omitzero"` // of a Send
	Wrong     Wrong   `json:",omitzero"`
	Count     int     // elements of each block, if Counts is nil
	Counts    [][]int `json:",omitzero"` // by rank, the elements of each block of its In
	Displaced uint64  `json:",omitzero"` // from which gaps between blocks and their order are drawn; 0: there are none
	InPlace   bool    `json:",omitzero"`
	Lead      int     `json:",omitzero"` // offset of buffers from their alignment, in elements
	Guard     int     `json:",omitzero"` // known bytes around each buffer; 0: as many as the longest vector has, and more
	Values    Values

	// Repeat is how often the call is made, without waiting: the i-th time with the values of Seed + i, and after the
	// first time without Delay. 0 means once.
	Repeat int `json:",omitzero"`

	Late  int           `json:",omitzero"` // the rank that begins after Delay
	Delay time.Duration `json:",omitzero"`
}

// Mode is how ranks make a call.
type Mode string

// The modes.
const (
	Blocking   Mode = ""           // it returns when it is over
	Started    Mode = "started"    // it is waited for later
	Batched    Mode = "batched"    // it is started together with those next to it that are batched, too
	Persistent Mode = "persistent" // it is prepared, and then started as often as Repeat says, in the same memory
)

// Wrong is what is wrong with a call that has to fail.
type Wrong string

// What may be wrong. All ranks have to return an error if the root is no rank, and at least one if counts differ. All
// have to return.
const (
	WrongRoot   Wrong = "root"   // it is the number of ranks, one more, or -1 except for messages, by the seed
	WrongCounts Wrong = "counts" // those of one rank, by the seed, are larger by one
)

// Values determine the inputs of a Step.
type Values struct {
	Kind spectest.Kind `json:",omitzero"`
	Seed uint64
	// These replace NaN, -0, and integers whose sums or products overflow.
	NoNaN, NoMinusZero, NoOverflow bool `json:",omitzero"`
	// Keep says that NaN and -0 are not replaced: what comes of them has to be an operand, the same at all places and
	// on all ranks.
	Keep bool `json:",omitzero"`
}

// each returns the calls of a step, one by one.
func (s *Step) each() iter.Seq[Step] {
	return func(yield func(Step) bool) {
		one := *s
		one.Repeat = 0
		for i := 0; yield(one) && i < s.Repeat-1; i++ {
			one.Values.Seed++
			one.Delay = 0
		}
	}
}

// apartFromDelays returns the step without what makes no difference to its results.
func (s *Step) apartFromDelays() string {
	same := *s
	same.Late, same.Delay, same.Repeat = 0, 0, 0
	return (&Case{Steps: []Step{same}}).JSON()
}

// String returns the call in words.
func (s *Step) String() string {
	var b strings.Builder
	b.WriteString(s.Primitive)
	p, _ := primitiveNamed(s.Primitive)
	if hasBuffers(p) {
		fmt.Fprintf(&b, " of %v", s.Type)
		if s.Counts != nil {
			fmt.Fprintf(&b, ", blocks of %v elements", s.Counts)
		} else {
			fmt.Fprintf(&b, ", blocks of %d elements", s.Count)
		}
	}
	for _, param := range p.Params {
		switch param {
		case spec.ParamOp:
			fmt.Fprintf(&b, ", op %v", s.Op)
		case spec.ParamRoot:
			if s.Wrong != WrongRoot {
				fmt.Fprintf(&b, ", root %d", s.Root)
			}
		case spec.ParamPeer:
			fmt.Fprintf(&b, ", peer %d", s.Peer)
		}
	}
	if s.InPlace {
		b.WriteString(", in place")
	}
	if s.Displaced != 0 {
		b.WriteString(", displaced")
	}
	if s.Comm > 0 {
		fmt.Fprintf(&b, ", on communicator %d by color %d", s.Comm, s.Color)
	}
	if s.Tag > 0 {
		fmt.Fprintf(&b, ", tag %d", s.Tag)
	}
	if s.Mode != Blocking {
		fmt.Fprintf(&b, ", %s", s.Mode)
	}
	switch s.Wrong {
	case WrongRoot:
		fmt.Fprintf(&b, ", with a root that is no rank: %s", s.beyond())
	case WrongCounts:
		b.WriteString(", with counts that differ")
	}
	if s.Lead > 0 {
		fmt.Fprintf(&b, ", off alignment by %d elements", s.Lead)
	}
	if s.Repeat > 1 {
		fmt.Fprintf(&b, ", %d times", s.Repeat)
	}
	if s.Delay > 0 {
		fmt.Fprintf(&b, ", rank %d comes %v late", s.Late, s.Delay)
	}
	return b.String()
}

// Arrange returns every rank's part of the call, with its inputs; nil for a rank that takes no part. It returns an
// error if the Step is no call of a primitive on size ranks.
func (s *Step) Arrange(size int) ([]*Call, error) {
	p, ok := primitiveNamed(s.Primitive)
	if !ok {
		return nil, fmt.Errorf("no primitive is called %q", s.Primitive)
	}
	t, err := newTrial(s, p, size)
	if err != nil {
		return nil, err
	}
	return t.calls, nil
}

// call returns the step's parameters of a specification.
func (s *Step) call(size int) spec.Call { return spec.Call{Size: size, Root: s.Root, Peer: s.Peer} }

// primitives are all that are tested: each call looks one up.
var primitives = Primitives()

// primitiveNamed returns the primitive with a name, and whether there is one.
func primitiveNamed(name string) (spec.Primitive, bool) {
	if i := slices.IndexFunc(primitives, func(p spec.Primitive) bool { return p.Name == name }); i >= 0 {
		return primitives[i], true
	}
	return spec.Primitive{}, false
}
