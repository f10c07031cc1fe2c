package fast

import (
	"context"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// This file has calls that are not generated, but made of those that are.

// The collective send under the names that receivers, and ranks that do both, know it by.
var receive, sendPart, receivePart = send.Renamed("Recv"), send.Renamed("SendRecv"), send.Renamed("SendRecv")

// Send sends buf to the rank to, which calls Recv with as many elements of the same type; no other rank takes part. It
// may return before they arrived, and buf may then be changed.
//
// Calls between two ranks match in the order in which they are made, apart from the collectives. Like all calls, one at
// a time runs on a Comm. Send may wait for the receiver: two ranks that both send first may wait for each other, until
// ctx ends or their disagreement is found; SendRecv and StartSend are for them.
func Send[T Elem](ctx context.Context, c *Comm, buf []T, to int, opts ...Option) error {
	return sendBytes(ctx, c, spec.TypeOf[T](), exec.Bytes(buf), to, opts)
}

// Recv fills buf with what the rank from sends.
func Recv[T Elem](ctx context.Context, c *Comm, buf []T, from int, opts ...Option) error {
	return recvBytes(ctx, c, spec.TypeOf[T](), exec.Bytes(buf), from, opts)
}

// StartSend starts Send and returns. The send begins at once, unless a collective is before it or a Batch is in
// progress, and needs no further call of this rank.
func StartSend[T Elem](ctx context.Context, c *Comm, buf []T, to int, opts ...Option) *Handle {
	return start(opts, func(opts []Option) error { return Send(ctx, c, buf, to, opts...) })
}

// StartRecv is Recv, but returns at once, as StartSend does.
func StartRecv[T Elem](ctx context.Context, c *Comm, buf []T, from int, opts ...Option) *Handle {
	return start(opts, func(opts []Option) error { return Recv(ctx, c, buf, from, opts...) })
}

func sendBytes(ctx context.Context, c *Comm, t spec.Type, buf []byte, to int, opts []Option) error {
	args := sending(c, exec.Elements(t, buf), to)
	return c.doGenerated(ctx, &send, t, &args, nil, buf, nil, opts)
}

func recvBytes(ctx context.Context, c *Comm, t spec.Type, buf []byte, from int, opts []Option) error {
	args := receiving(c, exec.Elements(t, buf), from)
	return c.doGenerated(ctx, &receive, t, &args, buf, nil, nil, opts)
}

func sending(c *Comm, count, to int) exec.Args {
	return exec.Args{Count: count, Root: c.Rank(), Peer: to, NoAlias: true}
}

func receiving(c *Comm, count, from int) exec.Args {
	return exec.Args{Count: count, Root: from, Peer: c.Rank(), NoAlias: true}
}

// SendRecv sends out to the rank to and fills in with what the rank from sends, both at once, so that ranks which do so
// in a ring do not wait for each other. It is a Send and a Recv: the other ranks may receive and send by any of these
// functions. Out and in may be of different lengths, none included, but must not overlap: SendRecvReplace is for one
// buffer. To and from may be the same rank. If one of them is this rank, so is the other, and out is copied to in,
// which is as long.
func SendRecv[T Elem](ctx context.Context, c *Comm, out []T, to int, in []T, from int, opts ...Option) error {
	return sendRecvBytes(ctx, c, spec.TypeOf[T](), exec.Bytes(out), to, exec.Bytes(in), from, true, opts)
}

// SendRecvReplace is SendRecv in place: what was in buf is sent to the rank to, and what the rank from sends is in buf
// then. Both are as many elements.
func SendRecvReplace[T Elem](ctx context.Context, c *Comm, buf []T, to, from int, opts ...Option) error {
	both := exec.Bytes(buf)
	return sendRecvBytes(ctx, c, spec.TypeOf[T](), both, to, both, from, false, opts)
}

// StartSendRecv is SendRecv, but returns at once, as StartSend does.
func StartSendRecv[T Elem](ctx context.Context, c *Comm, out []T, to int, in []T, from int,
	opts ...Option) *Handle {
	return start(opts, func(opts []Option) error { return SendRecv(ctx, c, out, to, in, from, opts...) })
}

// StartSendRecvReplace is SendRecvReplace, but returns at once, as StartSend does. What is in buf is copied before it
// returns.
func StartSendRecvReplace[T Elem](ctx context.Context, c *Comm, buf []T, to, from int, opts ...Option) *Handle {
	return start(opts, func(opts []Option) error { return SendRecvReplace(ctx, c, buf, to, from, opts...) })
}

// sendRecvBytes is SendRecv of elements of type t; or SendRecvReplace, if out and in are the same, which they may be
// unless they have to be apart.
func sendRecvBytes(ctx context.Context, c *Comm, t spec.Type, out []byte, to int, in []byte, from int, apart bool,
	opts []Option) error {
	receives := receiving(c, exec.Elements(t, in), from)
	receives.NoAlias = apart
	sends := sending(c, exec.Elements(t, out), to)
	err := c.sendRecv(ctx, exec.NewRequest(&sendPart, t, sends, nil, out),
		exec.NewRequest(&receivePart, t, receives, in, nil), opts)
	if err != nil {
		c.refused(opts)
	}
	return err
}

// sendRecv makes a send and a receive at once. In place, what is sent is copied first.
func (c *Comm) sendRecv(ctx context.Context, s, r *exec.Request, opts []Option) error {
	if err := c.enter(ctx, s.Collective.Name); err != nil {
		return err
	}
	defer c.busy.Unset()
	if err := c.prepareBoth(s, r, opts); err != nil {
		return err
	}
	if h := handleOf(opts); h != nil {
		if exec.Overlap(r.Dst, s.Src) {
			s.Src = slices.Clone(s.Src)
		}
		c.start(ctx, h, s, r)
		return nil
	}
	beside := c.hasOpen()
	if !beside {
		if err := c.drain(ctx, s.Collective.Name); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return c.contextError(ctx, s.Collective.Name)
	}
	if exec.Overlap(r.Dst, s.Src) {
		out := c.exec.Staged.Need(len(s.Src))
		copy(out, s.Src)
		s.Src = out
	}
	if beside {
		return c.besideOpen(ctx, s, r)
	}
	defer c.exec.ForgetGroup()
	c.exec.Enlist(*s, *r)
	if err := c.together(ctx); err != nil {
		return c.callError(s, c.exec.NumberOf(0), err)
	}
	return nil
}

// prepareBoth checks the arguments of a send and a receive at once.
func (c *Comm) prepareBoth(s, r *exec.Request, opts []Option) error {
	name, to, from := s.Collective.Name, s.Args.Peer, r.Args.Root
	isCopy := to == c.rank && from == c.rank
	switch {
	case preparedBy(opts) != nil:
		return wire.Refuse(name, "it cannot be prepared: prepare a Send and a Recv, and start both")
	case isCopy && s.Args.Count != r.Args.Count:
		return wire.Refuse(name, "rank %d sends %d elements to itself, and receives %d", c.rank, s.Args.Count, r.Args.Count)
	case exec.Overlap(r.Dst, s.Src) && (r.Args.NoAlias || exec.Address(r.Dst) != exec.Address(s.Src) ||
		len(r.Dst) != len(s.Src)):
		return wire.Refuse(name, "out and in overlap (SendRecvReplace is for one buffer)")
	case isCopy:
		if err := c.exec.CheckCopy(s.Collective, opts); err != nil {
			return err
		}
		s.Dst, s.Algorithm, r.Algorithm = r.Dst, &s.Collective.Algorithms[0], &r.Collective.Algorithms[0]
		return nil
	}
	if err := c.exec.Prepare(&s.Prepared, opts); err != nil {
		return err
	}
	return c.exec.Prepare(&r.Prepared, opts)
}

// AllToAllVAppend is AllToAllV for ranks that do not know how much they receive. The ranks exchange their counts first.
// It appends the blocks of all ranks to dst, by rank, and returns that, and the Blocks of what was appended. After an
// error it returns dst as it was.
//
// It allocates what dst has no room for. If the others send more than 16 GiB, the communicator is given up. Src may not
// lie in the memory of dst, not even in what dst has room for.
func AllToAllVAppend[T Elem](ctx context.Context, c *Comm, dst, src []T, srcBlocks Blocks) ([]T, Blocks, error) {
	if err := c.enter(ctx, "AllToAllVAppend"); err != nil {
		return dst, Blocks{}, err
	}
	c.exit()
	if len(srcBlocks.Counts) != c.Size() {
		return dst, Blocks{}, refuse("AllToAllVAppend", "srcBlocks has %d Counts, want %d", len(srcBlocks.Counts), c.Size())
	}
	if err := exec.CheckBlocks(srcBlocks, "AllToAllVAppend", "src", len(src), true); err != nil {
		return dst, Blocks{}, err
	}
	if exec.Overlap(exec.Bytes(dst[:cap(dst)]), exec.Bytes(src)) {
		return dst, Blocks{}, refuse("AllToAllVAppend", "dst and src overlap")
	}
	blocks := Blocks{Counts: make([]int, c.Size())}
	part := exec.Part{Operation: "AllToAllVAppend", Root: -1}
	opt := Option{Kind: exec.PartOption, Part: &part}
	if err := AllToAllInto(ctx, c, blocks.Counts, srcBlocks.Counts, opt); err != nil {
		return dst, Blocks{}, err
	}
	n, most := 0, exec.MaxScratch/spec.TypeOf[T]().Bytes()
	for r, count := range blocks.Counts {
		if count < 0 || count > most-n {
			err := &MismatchError{Rank: r, Seq: c.exec.Calls, TheirSeq: c.exec.Calls, Field: "message length",
				Mine: fmt.Sprintf("at most %d elements", most-n), Theirs: fmt.Sprintf("%d elements", count)}
			c.breakOff(err)
			return dst, Blocks{}, fmt.Errorf("AllToAllVAppend: %w: %w", ErrAborted, err)
		}
		n += count
	}
	all := slices.Grow(dst, n)[:len(dst)+n]
	part.Number = 1
	if err := AllToAllV(ctx, c, all[len(dst):], blocks, src, srcBlocks, opt); err != nil {
		return dst, Blocks{}, err
	}
	return all, blocks, nil
}
