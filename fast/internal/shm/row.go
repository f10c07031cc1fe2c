//go:build linux

package shm

import "github.com/collgen/collgen/fast/internal/kernel"

// row is slots of one length, one after another.
type row struct {
	bytes []byte
	n     int  // how many
	slot  int  // bytes of each
	there bool // this process knows that they have memory
}

// rowOf returns the beginning of b as n slots of some length.
func rowOf(b []byte, n, slot int) row { return row{bytes: b[:rowBytes(n, slot)], n: n, slot: slot} }

func rowBytes(n, slot int) int { return n * (slot + stagger) }

// data returns the first n bytes of slot i.
func (r *row) data(i, n int) []byte {
	from := i * (r.slot + stagger)
	return r.bytes[from : from+n : from+n]
}

// write writes the beginning of data to slot i, and gives how much fits there.
func (r *row) write(i int, data []byte) int {
	n := min(r.slot, len(data))
	kernel.Deliver(r.data(i, n), data[:n])
	return n
}
