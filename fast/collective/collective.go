// Package collective is what generated code is written in: `collgen gen` writes collectives of your own in terms of it.
// Programs that only call collectives need package fast alone.
//
// A generated function checks the lengths of its buffers and calls [Do] with a [Collective], which lists the algorithms
// that carry it out. [Do] picks one of them and runs it on a [Call].
package collective

import (
	"context"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// Collective is a primitive and the algorithms that can carry it out. Generated code declares one per primitive.
type Collective = exec.Collective

// Algorithm is one generated algorithm.
type Algorithm = exec.Algorithm

// Proved says for which calls an algorithm was proved.
type Proved = exec.Proved

// Needs says which ranks have to begin a call before a rank's own can end.
type Needs = exec.Needs

// The needs.
const (
	NeedsUnknown = exec.NeedsUnknown
	AllNeedAll   = exec.AllNeedAll   // as of AllReduce
	AllNeedRoot  = exec.AllNeedRoot  // as of Broadcast
	RootNeedsAll = exec.RootNeedsAll // as of Reduce
	AllNeedLower = exec.AllNeedLower // each rank those before it, as of Scan
)

// Args are the arguments of a call besides its buffers.
type Args = exec.Args

// Call is one call in progress on one rank: what an algorithm runs on.
type Call = exec.Call

// Buffer is one of the buffers of a Call.
type Buffer = exec.Buffer

// Do carries out one call of k on c. dst and src are the rank's Out and In, nil where it passes none.
//
// What is wrong with the arguments is fast.ErrInvalidArgument; if ctx has ended before, the error is a
// fast.TimeoutError that waits for no rank. In both cases nothing was sent, the call does not count, and the
// communicator stays healthy.
func Do[T fast.Elem](ctx context.Context, c *fast.Comm, k *Collective, dst, src []T, args *Args,
	opts []fast.Option) error {
	return exec.Runtime.Do(ctx, c, k, spec.TypeOf[T](), args, exec.Bytes(dst), exec.Bytes(src), nil, opts)
}

// BlocksOf are the uneven blocks of a call's buffers. A buffer without Counts is a single block.
type BlocksOf = exec.BlocksOf

// DoUneven is Do for a collective of uneven blocks. In args, Count is not used, and AliasIn and AliasOut are numbers of
// blocks.
func DoUneven[T fast.Elem](ctx context.Context, c *fast.Comm, k *Collective, dst, src []T, blocks *BlocksOf, args *Args,
	opts []fast.Option) error {
	return exec.Runtime.Do(ctx, c, k, spec.TypeOf[T](), args, exec.Bytes(dst), exec.Bytes(src), blocks, opts)
}

// BlockOf returns one of the blocks of buf, for a call of primitive in place.
func BlockOf[T fast.Elem](primitive string, buf []T, blocks fast.Blocks, block int) ([]T, error) {
	return exec.BlockOf(primitive, buf, blocks, block)
}

// Start has call start what it calls by passing opts on to Do, and returns the handle of that.
func Start(opts []fast.Option, call func(opts []fast.Option) error) *fast.Handle {
	return exec.Runtime.Start(opts, call).(*fast.Handle)
}

// Refuse returns the error of a call of primitive with a bad argument. It wraps fast.ErrInvalidArgument.
func Refuse(primitive, format string, args ...any) error {
	return wire.Refuse(primitive, format, args...)
}
