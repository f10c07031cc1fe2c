package hosts

import "github.com/collgen/collgen/fast"

// Leaders have the blocks of all ranks host by host, so that those of a host lie one after the other.

// blocks returns how long the blocks of hosts are, whose ranks have blocks of count elements.
func (h *Comm) blocks(count int) fast.Blocks {
	for host, ranks := range h.hosts {
		h.counts[host] = len(ranks) * count
	}
	return fast.Blocks{Counts: h.counts}
}

// own returns this host's block of all, in which ranks have blocks of count elements.
func own[T fast.Elem](h *Comm, all []T, count int) []T {
	return all[h.first*count:][:len(h.near.ranks)*count]
}

// byRank fills dst with the blocks in all, which lie there host by host, in the order of ranks.
func byRank[T fast.Elem](h *Comm, dst, all []T, count int) {
	for i, rank := range h.order {
		copy(dst[rank*count:][:count], all[i*count:])
	}
}

// byHost fills all with the blocks in src, which lie there in the order of ranks, host by host. It returns all.
func byHost[T fast.Elem](h *Comm, all, src []T, count int) []T {
	for i, rank := range h.order {
		copy(all[i*count:][:count], src[rank*count:])
	}
	return all
}
