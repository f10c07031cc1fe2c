package exec

import (
	"context"
	"math/bits"
	"unsafe"

	"github.com/collgen/collgen/spec"
)

// Runtime gives packages collective, hosts and neighbor access to what package fast does not export. Comm is a
// *fast.Comm, and handle a *fast.Handle. It is set when fast is initialized.
var Runtime interface {
	Do(ctx context.Context, comm any, k *Collective, t spec.Type, args *Args, dst, src []byte, blocks *BlocksOf,
		opts []Option) error
	Start(opts []Option, call func(opts []Option) error) (handle any)
	// Made returns how many collectives were made on comm, on which none is in progress.
	Made(comm any) uint64
	// Ended returns a channel that is closed when comm has ended: it has failed, or was revoked or aborted.
	Ended(comm any) <-chan struct{}
	// Fail has comm fail because of err, and tells the other ranks.
	Fail(comm any, err error)
}

// Bytes returns the memory of s.
func Bytes[T any](s []T) []byte {
	var elem T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(elem)))
}

// Elements returns how many elements of type t, which is valid, buf has.
func Elements(t spec.Type, buf []byte) int {
	return len(buf) >> bits.TrailingZeros8(uint8(t.Bytes())) // quicker than a division
}
