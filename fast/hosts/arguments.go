package hosts

import (
	"unsafe"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// checkRoot returns an error unless root is a rank.
func (h *Comm) checkRoot(name string, root int) error {
	if root < 0 || root >= h.size() {
		return wire.Refuse(name, "root is %d, want a rank of %d", root, h.size())
	}
	return nil
}

// checkOp returns an error unless op is defined on T.
func checkOp[T fast.Elem](name string, op fast.Op) error {
	if t := spec.TypeOf[T](); !op.Takes(t) {
		return wire.Refuse(name, "op %v is not defined on %v", op, t)
	}
	if !op.Commutative() { // the ranks of a host need not be one after the other
		return wire.Refuse(name, "op %v is not commutative", op)
	}
	return nil
}

// checkLength returns an error unless a buffer has as many elements as it should.
func checkLength(name, buffer string, length, want int) error {
	if length != want {
		return wire.Refuse(name, "len(%s) is %d, want %d", buffer, length, want)
	}
	return nil
}

// checkOverlap returns an error if the buffers share memory, except that dst[inDst] may be src[inSrc].
func checkOverlap[T fast.Elem](name string, dst, src []T, inDst, inSrc int) error {
	if exec.Overlap(exec.Bytes(dst), exec.Bytes(src)) && &dst[inDst] != &src[inSrc] {
		return wire.Refuse(name, "dst and src overlap, but src[%d] is not dst[%d]", inSrc, inDst)
	}
	return nil
}

// checkRoom returns an error, the same on all ranks, if a leader would need memory for too many elements: for so many
// ranks as many as each has.
func checkRoom[T fast.Elem](h *Comm, elements, ranks int) error {
	if most := h.limit / spec.TypeOf[T]().Bytes(); elements > most/ranks {
		return wire.Refuse(h.whole.Operation, "a leader would need more than %d GiB, for %d times %d elements", h.limit>>30,
			ranks, elements)
	}
	return nil
}

// room returns memory for n elements, which the next call uses again.
func room[T fast.Elem](h *Comm, at, n int) []T {
	var elem T
	memory := &h.scratch[at]
	const unit = int(unsafe.Sizeof(complex128(0)))
	if need := (n*int(unsafe.Sizeof(elem)) + unit - 1) / unit; len(*memory) < need {
		*memory = make([]complex128, need)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(*memory))), n)
}

// combining returns the op with which parts of a call with op reduce: that without what op does once in the end.
func combining(op fast.Op) fast.Op {
	if op == fast.Avg {
		return fast.Sum
	}
	return op
}

// finish does what op does once to the reduction of the operands of all ranks.
func finish[T fast.Elem](h *Comm, op fast.Op, data []T) {
	kernel.Finish(op, spec.TypeOf[T](), exec.Bytes(data), h.size())
}
