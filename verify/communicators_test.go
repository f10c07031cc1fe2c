package verify_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast"
)

// A division is communicators that one Split makes: each is its processes, by rank. A process is in at most one of
// them.
type division [][]int

// divisions returns what the processes of a job of that size make, one after the other: the first communicator itself,
// one of all processes in another order, two that have half of them each, and one that not all are in.
func divisions(size int) []division {
	all := make([]int, size)
	for process := range all {
		all[process] = process
	}
	if size == 1 {
		return []division{{all}}
	}
	turned := slices.Clone(all)
	slices.Reverse(turned)
	return []division{{all}, {turned}, {turned[:(size+1)/2], turned[(size+1)/2:]}, {append(all[2:size:size], 0)}}
}

// place returns the color and the key that a process passes to Split.
func (d division) place(process int) (color, key int) {
	for color, members := range d {
		if key := slices.Index(members, process); key >= 0 {
			return color, key
		}
	}
	return -1, 0
}

// divide makes all communicators of the divisions of world that this process is in; nil where it is in none.
func divide(ctx context.Context, world *fast.Comm) ([]*fast.Comm, error) {
	comms := []*fast.Comm{world}
	for i, d := range divisions(world.Size())[1:] {
		color, key := d.place(world.Rank())
		c, err := world.Split(ctx, color, key)
		if err != nil {
			return nil, err
		}
		if color >= 0 && (c.Rank() != key || c.Size() != len(d[color])) {
			return nil, fmt.Errorf("process %d has become %v by split %d, want rank %d of %d", world.Rank(), c, i, key,
				len(d[color]))
		}
		comms = append(comms, c)
	}
	return comms, nil
}

// closeAll closes those that are not nil.
func closeAll(comms []*fast.Comm) error {
	var errs []error
	for _, c := range comms {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
