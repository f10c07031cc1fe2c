package object

import (
	"context"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/wire"
)

// noRoot is the root of a call that has none.
const noRoot = -1

// exchange is a call in progress.
type exchange struct {
	c *fast.Comm
	config
	part exec.Part     // the next call of package fast that it is made of
	opts []fast.Option // has part
}

// begin returns a call of that name, before the first of its parts.
func begin(c *fast.Comm, name string, root int, opts []Option) (*exchange, error) {
	o, err := newConfig(name, opts)
	if err != nil {
		return nil, err
	}
	x := &exchange{c: c, config: o, part: exec.Part{Operation: name, Root: root}}
	x.opts = []fast.Option{{Kind: exec.PartOption, Part: &x.part}}
	return x, nil
}

// How a rank is when it has learned the lengths. What is none of these is overLimit.
const (
	ready uint8 = iota
	unencodable
	overLimit
)

// carry makes the three parts of the call: lengths sends those of mine, and bytes the values. It returns so many values
// that this rank gets, and where each of them lies.
func (x *exchange) carry(ctx context.Context, mine *encoded, values int, lengths func(dst, src []int64) error,
	bytes func(dst []byte, from fast.Blocks, src []byte) error) ([]byte, fast.Blocks, error) {
	theirs := make([]int64, values)
	if err := lengths(theirs, mine.lengths); err != nil {
		return nil, fast.Blocks{}, err
	}
	blocks, n, fit := x.lay(theirs)
	if err := x.agree(ctx, mine.err, fit); err != nil {
		return nil, fast.Blocks{}, err
	}
	data := make([]byte, n)
	x.part.Number = 2
	err := bytes(data, blocks, mine.data)
	return data, blocks, err
}

// agree has the ranks tell each other whether the call can go on. On this rank, it cannot if the values could not be
// encoded because of own, or if those that it would get do not fit in the limit.
func (x *exchange) agree(ctx context.Context, own error, fit bool) error {
	state := ready
	if own != nil {
		state = unencodable
	} else if !fit {
		state = overLimit
	}
	states := make([]uint8, x.c.Size())
	x.part.Number = 1
	if err := fast.AllGatherInto(ctx, x.c, states, []uint8{state}, x.opts...); err != nil {
		return err
	}
	if err := x.verdict(states, own); err != nil {
		return fmt.Errorf("%s on %v: %w", x.part.Operation, x.c, err)
	}
	return nil
}

// lay returns where values of these lengths go, and how long they are in all, if that is within the limit.
func (x *exchange) lay(lengths []int64) (blocks fast.Blocks, n int, fit bool) {
	blocks.Counts = make([]int, len(lengths))
	for i, length := range lengths {
		if length < 0 || length > int64(x.limit-n) {
			return blocks, 0, false
		}
		blocks.Counts[i] = int(length)
		n += int(length)
	}
	return blocks, n, true
}

// verdict returns why the call cannot go on. Own is why this rank could not encode its values.
func (x *exchange) verdict(states []uint8, own error) error {
	me := x.c.Rank()
	if own != nil {
		return fmt.Errorf("%w: %w", ErrEncode, own)
	}
	if r := slices.Index(states, unencodable); r >= 0 {
		return &fast.PeerError{Rank: r, Err: ErrEncode}
	}
	if states[me] != ready {
		return fmt.Errorf("%w of this rank, %d bytes", ErrTooLarge, x.limit)
	}
	if r := slices.IndexFunc(states, func(s uint8) bool { return s != ready }); r >= 0 {
		return &fast.PeerError{Rank: r, Err: ErrTooLarge}
	}
	return nil
}

// cannotDecode returns the error of a call in which a rank has sent something else than values.
func (x *exchange) cannotDecode(rank int, err error) error {
	err = &fast.PeerError{Rank: rank, Err: fmt.Errorf("%w: %w", ErrDecode, err)}
	return fmt.Errorf("%s on %v: %w", x.part.Operation, x.c, err)
}

// fromEach returns the values in data, one of each rank.
func fromEach[T any](x *exchange, data []byte, blocks fast.Blocks) ([]T, error) {
	vs, rank, err := decode[T](&x.config, data, blocks.Counts)
	if err != nil {
		return nil, x.cannotDecode(rank, err)
	}
	return vs, nil
}

// fromRoot returns the value that data is.
func fromRoot[T any](x *exchange, data []byte) (T, error) {
	v, err := unmarshal[T](&x.config, data)
	if err != nil {
		var zero T
		return zero, x.cannotDecode(x.part.Root, err)
	}
	return v, nil
}

// oneForEach refuses values that are not one for each rank.
func (x *exchange) oneForEach(n int) error {
	if n != x.c.Size() {
		return wire.Refuse(x.part.Operation, "%d values, want %d, one for each rank", n, x.c.Size())
	}
	return nil
}
