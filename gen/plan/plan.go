// Package plan reads and writes plan files: a schedule as JSON that people and other programs can write.
//
//	{
//	  "plan": 1, "name": "mine/pair", "primitive": "AllReduce", "size": 2, "chunks": 1, "commutative": true,
//	  "ranks": [
//	    {"steps": [[{"send": "in[0]", "to": 1}, {"recv": "out[0]", "from": 1, "plus": "in[0]"}, {"finish": "out[0]"}]]},
//	    {"steps": [[{"send": "in[0]", "to": 0}, {"recv": "out[0]", "from": 0, "plus": "in[0]", "receivedFirst": true},
//	      {"finish": "out[0]"}]]}
//	  ]
//	}
//
// The sends and receives of a step are in flight together. What else it has follows in its order, when they are
// complete; then the next step begins. Places are in[2], out[0..4) or scratch[1], of chunks: a block has so many as
// "chunks" says. A slot of scratch says which chunk it is as long as: scratch[1 like 3]. A message without data is
// "nothing".
//
// Where blocks differ in length, as those of AllGatherV do, a block is one chunk. There a slot of scratch says which
// block it is as long as: scratch[0 like 2] is as long as that of rank 2. For AllToAllV, scratch[0 like 2,3] is as long
// as what rank 2 sends to rank 3.
package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// MaxBytes is the length of the longest file that Decode reads.
const MaxBytes = 32 << 20

// version is that of the form of plan files.
const version = 1

// file is a plan file.
type file struct {
	Plan        int    `json:"plan"` // the version
	Name        string `json:"name"`
	Primitive   string `json:"primitive"`
	Size        int    `json:"size"`
	Root        int    `json:"root,omitempty"`
	Peer        int    `json:"peer,omitempty"`
	Chunks      int    `json:"chunks"` // of a block
	Commutative bool   `json:"commutative,omitempty"`
	OutOfPlace  bool   `json:"outOfPlace,omitempty"`
	Ranks       []rank `json:"ranks"`
}

type rank struct {
	Scratch int        `json:"scratch,omitempty"` // slots
	Steps   [][]action `json:"steps"`
}

// action is one action. It has one of Send, Recv, Copy, Reduce and Finish.
type action struct {
	Send          string   `json:"send,omitempty"`
	To            *int     `json:"to,omitempty"`
	Recv          string   `json:"recv,omitempty"`
	From          *int     `json:"from,omitempty"`
	Plus          string   `json:"plus,omitempty"` // of Recv: the operand on the left of what is received
	ReceivedFirst bool     `json:"receivedFirst,omitempty"`
	AfterSend     bool     `json:"afterSend,omitempty"`
	Lend          bool     `json:"lend,omitempty"`
	Channel       int      `json:"channel,omitempty"`
	Copy          string   `json:"copy,omitempty"`
	Reduce        []string `json:"reduce,omitempty"`
	Finish        string   `json:"finish,omitempty"`
	Into          string   `json:"into,omitempty"` // of Copy and Reduce
}

// Decode reads a plan for one of primitives. Nothing is presumed of what it reads. The schedule is not proved:
// verify.Schedule says whether it does what its primitive promises.
func Decode(r io.Reader, primitives []spec.Primitive) (*gen.Schedule, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("a plan of more than %d bytes", MaxBytes)
	}
	var f file
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("not a plan: %w", err)
	}
	if d.More() {
		return nil, errors.New("not a plan: there is more behind it")
	}
	return f.schedule(primitives)
}

// schedule returns the schedule that f says.
func (f *file) schedule(primitives []spec.Primitive) (*gen.Schedule, error) {
	i := slices.IndexFunc(primitives, func(p spec.Primitive) bool { return strings.EqualFold(p.Name, f.Primitive) })
	switch {
	case f.Plan != version:
		return nil, fmt.Errorf("the plan is of version %d, and this reads version %d", f.Plan, version)
	case f.Primitive == "":
		return nil, errors.New("the plan does not say which primitive it is of")
	case i < 0:
		return nil, fmt.Errorf("there is no primitive %q", f.Primitive)
	case f.Size < 1 || f.Size != len(f.Ranks):
		return nil, fmt.Errorf("size is %d, and there are %d ranks", f.Size, len(f.Ranks))
	case f.Size > maxRanks:
		return nil, fmt.Errorf("the plan has more than %d ranks", maxRanks)
	case f.Root < 0 || f.Root >= f.Size || f.Peer < 0 || f.Peer >= f.Size:
		return nil, fmt.Errorf("root %d or peer %d is no rank of %d", f.Root, f.Peer, f.Size)
	case f.Chunks < 1 || f.Chunks > maxChunks:
		return nil, fmt.Errorf("a block has %d chunks, want 1 to %d", f.Chunks, maxChunks)
	}
	if primitives[i].IsUneven() && f.Chunks != 1 {
		return nil, fmt.Errorf("a block of %s has %d chunks, want 1, since its blocks differ in length", primitives[i].Name,
			f.Chunks)
	}
	s := &gen.Schedule{Algorithm: f.Name, Primitive: primitives[i], Chunks: f.Chunks,
		Requires: gen.Requires{Commutative: f.Commutative, OutOfPlace: f.OutOfPlace},
		Params:   gen.Params{Size: f.Size, Root: f.Root, Peer: f.Peer, Depth: 1}, Ranks: make([]gen.Program, f.Size)}
	for r := range f.Ranks {
		if err := f.program(s, r); err != nil {
			return nil, fmt.Errorf("rank %d: %w", r, err)
		}
	}
	return s, nil
}

// These bound the numbers in files: products of two of them fit 32 bits.
const (
	maxRanks  = 1 << 10 // what a primitive promises to all of them grows with their number squared
	maxChunks = 1 << 14 // of a block
	maxBlocks = 1 << 16 // of a buffer
	maxNumber = 1 << 30 // in a place, and slots of scratch
)

// program fills in the program of one rank.
func (f *file) program(s *gen.Schedule, r int) error {
	p := &s.Ranks[r]
	for _, b := range []struct {
		n  *int
		of spec.Buffer
	}{{&p.In, s.Primitive.In}, {&p.Out, s.Primitive.Out}} {
		blocks, err := b.of.Len(s.Env(r))
		if err != nil {
			return err
		}
		if blocks < 0 || blocks > maxBlocks {
			return fmt.Errorf("a buffer of %d blocks", blocks)
		}
		*b.n = blocks * s.Chunks
	}
	if p.Scratch = f.Ranks[r].Scratch; p.Scratch < 0 || p.Scratch > maxNumber {
		return fmt.Errorf("%d slots of scratch", p.Scratch)
	}
	b := &builder{s: s, rank: r, ready: -1}
	for i, step := range f.Ranks[r].Steps {
		if err := b.step(step); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		b.number++
	}
	p.Instrs = b.instrs
	return nil
}
