package colltest_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// central is an implementation in which every rank shows its input to all others, and takes from theirs what it needs.
// A fault is what it does wrong.
type central struct {
	fault
	can   colltest.Capabilities
	byRef bool // the results are those of package ref
	begin func()
}

func (c *central) Capabilities() colltest.Capabilities { return c.can }

func (c *central) Start(_ context.Context, size int) (colltest.World, error) {
	for _, begins := range []func(){c.begin, c.starts} {
		if begins != nil {
			begins()
		}
	}
	return newWorld(c.fault, c.byRef, size), nil
}

// room is where the ranks of a communicator meet.
type room struct {
	fault
	byRef  bool
	size   int
	mu     sync.Mutex
	made   []map[roundKey]int // calls, by rank and key without number
	rounds map[roundKey]*round
}

func newRoom(f fault, byRef bool, size int) *room {
	return &room{fault: f, byRef: byRef, size: size, made: make([]map[roundKey]int, size), rounds: map[roundKey]*round{}}
}

// roundKey numbers calls: messages by their two ends and tags, and those of all ranks.
type roundKey struct{ root, peer, tag, number int }

// round is one call.
type round struct {
	ins     [][][]byte // by rank and block
	missing int
	full    chan struct{}
}

func (r *room) call(ctx context.Context, rank int, c *colltest.Call) error {
	round, err := r.start(ctx, rank, c)
	if err != nil {
		return err
	}
	return r.end(ctx, rank, c, round)
}

// start is what a rank does before it waits for others.
func (r *room) start(ctx context.Context, rank int, c *colltest.Call) (*round, error) {
	if r.enter != nil {
		if err := r.enter(ctx, rank, r.size, c); err != nil {
			return nil, err
		}
	}
	if r.anyRoot {
		c.Root = (c.Root%r.size + r.size) % r.size
	}
	if c.Root < 0 || c.Root >= r.size {
		if r.countsRefused && rank == 0 {
			r.join(rank, &colltest.Call{})
		}
		return nil, fmt.Errorf("root %d of %d ranks", c.Root, r.size)
	}
	return r.join(rank, c), nil
}

// end waits for the others, and writes the rank's results.
func (r *room) end(ctx context.Context, rank int, c *colltest.Call, round *round) error {
	if !r.passes(rank, c) || r.byRef {
		select {
		case <-round.full:
		case <-r.over(c):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if r.byRef {
		return r.asRef(rank, c, round)
	}
	for i, operands := range r.needs(rank, c, round.ins) {
		out := c.OutBlock(i)
		for _, x := range operands {
			if len(x) != len(out) && !r.anyCounts {
				return fmt.Errorf("rank %d has %d bytes for a block of %d", rank, len(out), len(x))
			}
		}
		copy(out, r.reduce(rank, c, operands))
	}
	if r.leave != nil {
		r.leave(rank, r.size, c)
	}
	return nil
}

// passes reports whether a rank does not wait for the others.
func (r *room) passes(rank int, c *colltest.Call) bool {
	return r.early && c.Primitive == "Barrier" || r.ahead && c.Primitive == "Broadcast" && rank == c.Root
}

// asRef gives a rank what package ref gives it.
func (r *room) asRef(rank int, c *colltest.Call, round *round) error {
	out, err := arithmetics[c.Type].ref(c, round.ins, rank)
	copy(c.Out(), out)
	return err
}

// join adds a rank's input to the round of its call.
func (r *room) join(rank int, c *colltest.Call) *round {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, members := roundKey{root: -1, peer: -1}, r.size
	if c.Primitive == "Send" {
		key, members = roundKey{root: c.Root, peer: c.Peer, tag: c.Tag}, 2
		if r.tag != nil {
			key.tag = r.tag(c.Tag)
		}
	}
	mine := &r.made[rank]
	if *mine == nil {
		*mine = map[roundKey]int{}
	}
	before := key
	key.number = (*mine)[before]
	(*mine)[before]++
	if r.rounds[key] == nil {
		r.rounds[key] = &round{ins: make([][][]byte, r.size), missing: members, full: make(chan struct{})}
	}
	round := r.rounds[key]
	for b := range c.InCounts {
		round.ins[rank] = append(round.ins[rank], bytes.Clone(c.InBlock(b)))
	}
	if round.missing--; round.missing == 0 {
		close(round.full)
	}
	return round
}

// needs returns the operands of each block of a rank's Out.
func (r *room) needs(rank int, c *colltest.Call, ins [][][]byte) (blocks [][][]byte) {
	if c.OutCounts == nil {
		return nil
	}
	column := func(b int) (operands [][]byte) {
		for _, in := range ins {
			operands = append(operands, in[b])
		}
		return operands
	}
	switch strings.TrimSuffix(c.Primitive, "V") { // counts say which blocks are uneven
	case "Broadcast", "Send":
		return [][][]byte{{ins[c.Root][0]}}
	case "Scatter":
		return [][][]byte{{ins[c.Root][rank]}}
	case "Gather", "AllGather":
		for _, in := range ins {
			blocks = append(blocks, [][]byte{in[0]})
		}
		return blocks
	case "AllToAll":
		for _, in := range ins {
			blocks = append(blocks, [][]byte{in[rank]})
		}
		return blocks
	case "ReduceScatter":
		return [][][]byte{column(rank)}
	case "NeighborAllToAll":
		return [][][]byte{{ins[(rank+r.size-1)%r.size][1]}, {ins[(rank+1)%r.size][0]}}
	case "NeighborAllGather":
		return [][][]byte{{ins[(rank+r.size-1)%r.size][0]}, {ins[(rank+1)%r.size][0]}}
	case "Scan":
		return [][][]byte{column(0)[:rank+1]}
	case "Exscan":
		return [][][]byte{column(0)[:rank]}
	}
	return [][][]byte{column(0)}
}

// reduce combines operands from left to right.
func (r *room) reduce(rank int, c *colltest.Call, operands [][]byte) []byte {
	if c.Op == 0 {
		return operands[0]
	}
	if r.operands != nil {
		operands = r.operands(rank, c, operands)
	}
	result := bytes.Clone(operands[0])
	for _, x := range operands[1:] {
		if r.combine != nil {
			result = r.combine(c, result, x)
		} else {
			result = arithmetics[c.Type].combine(c.Op, result, x)
		}
	}
	if r.finish != nil {
		return r.finish(c, result, r.size)
	}
	return arithmetics[c.Type].finish(c.Op, result, r.size)
}

// arithmetic is a type's, on bytes.
type arithmetic interface {
	combine(op spec.Op, x, y []byte) []byte
	finish(op spec.Op, x []byte, size int) []byte
	// ref is a rank's output by package ref.
	ref(c *colltest.Call, ins [][][]byte, rank int) ([]byte, error)
}

var arithmetics = map[spec.Type]arithmetic{
	spec.TypeInt8: of[int8]{}, spec.TypeInt16: of[int16]{}, spec.TypeInt32: of[int32]{}, spec.TypeInt64: of[int64]{},
	spec.TypeUint8: of[uint8]{}, spec.TypeUint16: of[uint16]{}, spec.TypeUint32: of[uint32]{},
	spec.TypeUint64:  of[uint64]{},
	spec.TypeFloat16: of[spec.Float16]{}, spec.TypeBFloat16: of[spec.BFloat16]{},
	spec.TypeFloat32: of[float32]{}, spec.TypeFloat64: of[float64]{},
	spec.TypeComplex64: of[complex64]{}, spec.TypeComplex128: of[complex128]{}, spec.TypeBool: of[bool]{},
	spec.TypeFloat8E4M3: of[spec.Float8E4M3]{}, spec.TypeFloat8E5M2: of[spec.Float8E5M2]{},
}

type of[T spec.Elem] struct{}

func (of[T]) combine(op spec.Op, x, y []byte) []byte {
	result, other := aligned(x), colltest.As[T](aligned(y))
	if op == colltest.Compose {
		for i, g := range colltest.As[uint64](aligned(y)) {
			colltest.As[uint64](result)[i] = colltest.Composed(colltest.As[uint64](result)[i], g)
		}
		return result
	}
	for i, a := range colltest.As[T](result) {
		colltest.As[T](result)[i] = ref.Combine(op, a, other[i])
	}
	return result
}

func (of[T]) finish(op spec.Op, x []byte, size int) []byte {
	result := aligned(x)
	for i, a := range colltest.As[T](result) {
		if op != colltest.Compose {
			colltest.As[T](result)[i] = ref.Finish(op, a, size)
		}
	}
	return result
}

func (of[T]) ref(c *colltest.Call, ins [][][]byte, rank int) ([]byte, error) {
	call := ref.Call[T]{Op: c.Op, Root: c.Root, Peer: c.Peer}
	for _, blocks := range ins {
		call.In = append(call.In, colltest.As[T](aligned(bytes.Join(blocks, nil))))
	}
	outs, err := call.Run(c.Primitive)
	if err != nil {
		return nil, err
	}
	out := colltest.Aligned(len(outs[rank]) * c.Type.Bytes())
	copy(colltest.As[T](out), outs[rank])
	return out, nil
}

func aligned(b []byte) []byte {
	a := colltest.Aligned(len(b))
	copy(a, b)
	return a
}
