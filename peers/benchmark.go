package main

import "slices"

const (
	kib = 1 << 10
	mib = 1 << 20
)

// columns are the sizes of the table, in bytes of the larger buffer of a rank. A barrier is in the first. Each is
// factor times the one before, so that one run of a program measures any of them that follow each other.
var columns = []int{8, 64, 512, 4 * kib, 32 * kib, 256 * kib, 2 * mib, 16 * mib}

const factor = 8

// call is what a line of the table compares: one collective and how it is called.
type call struct {
	Collective string `json:"collective"`
	Transport  string `json:"transport"`
	Ranks      int    `json:"ranks"`
	TwoBuffers bool   `json:"twoBuffers,omitempty"` // the result goes to another buffer than the operand
	Python     bool   `json:"python,omitempty"`     // through torch.distributed
}

// benchmark is a call at one size, as all programs run it. Several rows may compare times of one benchmark.
type benchmark struct {
	call
	Bytes int `json:"bytes"`
}

// comparison is a call at sizes that follow each other, and the rows that compare it. The programs run one directly
// after another.
type comparison struct {
	call
	sizes []int
	rows  []*row
}

func (c *comparison) at(bytes int) benchmark { return benchmark{c.call, bytes} }

// comparisons returns those that the wanted cells need, in the order of the table.
func comparisons(wanted func(r *row, bytes int) bool) (all []*comparison) {
	for _, r := range rows {
		sizes := slices.DeleteFunc(slices.Clone(r.sizes), func(bytes int) bool { return !wanted(r, bytes) })
		if len(sizes) == 0 {
			continue
		}
		at := slices.IndexFunc(all, func(c *comparison) bool { return c.call == r.call })
		if at < 0 {
			at, all = len(all), append(all, &comparison{call: r.call})
		}
		c := all[at]
		c.rows = append(c.rows, r)
		c.sizes = span(r.sizes, append(c.sizes, sizes...))
	}
	return all
}

// span returns the part of ascending sizes from the least to the largest of some of them.
func span(sizes, some []int) []int {
	if len(some) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(sizes),
		func(bytes int) bool { return bytes < slices.Min(some) || bytes > slices.Max(some) })
}

// ours returns whether our operands are in registered memory, for each way that a row of c has them.
func (c *comparison) ours() (registered []bool) {
	for _, r := range c.rows {
		if !slices.Contains(registered, r.registered) {
			registered = append(registered, r.registered)
		}
	}
	return registered
}

// peers returns those of all rows of c.
func (c *comparison) peers() (all []*peer) {
	for _, p := range peers {
		if slices.ContainsFunc(c.rows, func(r *row) bool { return slices.Contains(r.peers, p) }) {
			all = append(all, p)
		}
	}
	return all
}
