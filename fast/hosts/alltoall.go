package hosts

import (
	"context"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/wire"
)

// AllToAll gives rank r block r of every rank, by rank. It works in place: buf is both src and dst of [AllToAllInto].
func AllToAll[T fast.Elem](ctx context.Context, h *Comm, buf []T) error {
	return AllToAllInto(ctx, h, buf, buf)
}

// AllToAllInto gives rank r block r of every rank, by rank. Two hosts send each other one message each, with all blocks
// from the ranks of one to those of the other. All blocks pass through the memory of leaders, who need twice as much of
// it as the ranks of their hosts have in src.
func AllToAllInto[T fast.Elem](ctx context.Context, h *Comm, dst, src []T) error {
	const name = "hosts.AllToAll"
	if err := checkBlocks(name, "src", len(src), h.size()); err != nil {
		return err
	}
	if err := checkLength(name, "dst", len(dst), len(src)); err != nil {
		return err
	}
	if err := checkOverlap(name, dst, src, 0, 0); err != nil {
		return err
	}
	if err := h.begin(ctx, name, 0, noRoot); err != nil {
		return err
	}
	defer h.end()
	if h.flat != nil {
		return h.made(h.flat, fast.AllToAllInto(ctx, h.flat.Comm, dst, src))
	}
	return allToAll(ctx, h, dst, src)
}

// allToAll is AllToAllInto in two levels: a leader gathers, exchanges with the other leaders, and scatters.
func allToAll[T fast.Elem](ctx context.Context, h *Comm, dst, src []T) error {
	if err := checkRoom[T](h, len(src), h.most); err != nil {
		return err
	}
	var from, to []T
	if h.leads() {
		from, to = room[T](h, 0, len(h.near.ranks)*len(src)), room[T](h, 1, len(h.near.ranks)*len(src))
	}
	if err := h.made(&h.near, fast.GatherInto(ctx, h.near.Comm, from, src, 0, h.opts...)); err != nil {
		return err
	}
	if h.leads() {
		count := len(src) / h.size()
		h.pack(count, func(packed, of, at int) { copy(to[packed:][:count], from[of*len(src)+at*count:]) })
		exchanged := h.blocks(count * len(h.near.ranks))
		if err := h.made(&h.far, fast.AllToAllV(ctx, h.far.Comm, from, exchanged, to, exchanged, h.opts...)); err != nil {
			return err
		}
		h.unpack(count, func(packed, of, at int) { copy(to[of*len(src)+at*count:][:count], from[packed:]) })
	}
	return h.made(&h.near, fast.ScatterInto(ctx, h.near.Comm, dst, to, 0, h.opts...))
}

// pack calls f for each block that the ranks of this host send, in the order in which leaders send them: its place
// there, the seat of the rank that it is from, and the rank that it is for.
func (h *Comm) pack(count int, f func(packed, of, at int)) {
	packed := 0
	for _, there := range h.hosts {
		for seat := range h.near.ranks {
			for _, rank := range there {
				f(packed, seat, rank)
				packed += count
			}
		}
	}
}

// unpack calls f for each block that the ranks of this host get, in the order in which leaders get them: its place
// there, the seat of the rank that it is for, and the rank that it is from.
func (h *Comm) unpack(count int, f func(packed, of, at int)) {
	packed := 0
	for _, there := range h.hosts {
		for _, rank := range there {
			for seat := range h.near.ranks {
				f(packed, seat, rank)
				packed += count
			}
		}
	}
}

// checkBlocks returns an error unless a buffer has equal blocks for all ranks.
func checkBlocks(name, buffer string, length, size int) error {
	if length%size != 0 {
		return wire.Refuse(name, "len(%s) is %d, not a multiple of %d", buffer, length, size)
	}
	return nil
}
