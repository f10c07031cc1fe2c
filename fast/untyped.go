package fast

import (
	"context"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/spec"
)

// Call is a call whose collective and type of elements are known only when the program runs. The functions of this
// package, such as [AllReduceInto], make the same calls; their comments state the conditions. Fields that these have no
// parameters for are not used.
type Call struct {
	// one of Collectives, or Send, Recv or SendRecv
	Collective string
	Type       spec.Type
	// The memory of elements. For a call in place both lie as the function says, such as that with Into in its name.
	// Send has Src alone, and Recv Dst.
	Dst, Src             []byte
	DstBlocks, SrcBlocks Blocks // of collectives with a V
	Op                   Op
	Root                 int
	To, From             int // the ranks that Src is sent to and Dst comes from: of Send, Recv and SendRecv
}

// Do makes the call on c.
func Do(ctx context.Context, c *Comm, call Call, opts ...Option) error {
	if err := call.check(); err != nil {
		return err
	}
	return call.do(ctx, c, opts)
}

// do makes the call on c, whose buffers were checked.
func (call *Call) do(ctx context.Context, c *Comm, opts []Option) error {
	is, err := doNamed(ctx, c, call.Collective, call.Type, call.Dst, call.Src, call.DstBlocks, call.SrcBlocks, call.Op,
		call.Root, opts)
	if is {
		return err
	}
	return call.pair(ctx, c, opts)
}

// Start is Do, but returns at once, as the functions Start… do.
func Start(ctx context.Context, c *Comm, call Call, opts ...Option) *Handle {
	return start(opts, func(opts []Option) error {
		if err := call.check(); err != nil {
			return err
		}
		return call.do(ctx, c, opts)
	})
}

// check returns why there can be no elements of the call's type in its buffers, or nil.
func (call *Call) check() error {
	bytes := call.Type.Bytes()
	if bytes == 0 {
		if call.Collective == "Barrier" {
			return nil
		}
		return refuse(call.Collective, "the type of its elements is %v", call.Type)
	}
	for _, buf := range [][]byte{call.Dst, call.Src} {
		if len(buf)&(bytes-1) != 0 {
			return refuse(call.Collective, "a buffer of %d bytes does not hold elements of %d", len(buf), bytes)
		}
		if align := alignment(call.Type); len(buf) > 0 && exec.Address(buf)&(align-1) != 0 {
			return refuse(call.Collective, "a buffer of %v is not aligned to %d bytes", call.Type, align)
		}
	}
	return nil
}

// alignment returns to how many bytes elements of type t are aligned in memory.
func alignment(t spec.Type) uintptr {
	bytes := t.Bytes()
	if t.Class() == spec.Complex {
		bytes /= 2
	}
	return min(uintptr(bytes), unsafe.Alignof(uint64(0)))
}

// pair makes the call if it is one between two ranks.
func (call *Call) pair(ctx context.Context, c *Comm, opts []Option) error {
	switch call.Collective {
	case "Send":
		return sendBytes(ctx, c, call.Type, call.Src, call.To, opts)
	case "Recv":
		return recvBytes(ctx, c, call.Type, call.Dst, call.From, opts)
	case "SendRecv":
		return sendRecvBytes(ctx, c, call.Type, call.Src, call.To, call.Dst, call.From, false, opts)
	}
	return refuse("Do", "there is no collective %q", call.Collective)
}
