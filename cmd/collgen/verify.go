package main

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/gen/emit"
)

// runVerify is collgen verify.
func runVerify(ctx context.Context, c *call) error {
	s, err := c.shown(ctx)
	if err != nil {
		return err
	}
	found, err := c.proveMatching(ctx, s)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeEntries(found)
	}
	fmt.Fprintf(c.stdout, "%s.\n\n", s.title())
	t := newTable(c.stdout)
	t.row("algorithm", "sizes", "depths", "schedules", "in place", "order", "capacity", "scratch")
	total := 0
	for _, a := range found {
		p := a.proof
		t.row(a.FullName(), sizesOf(a), emit.Ranges(p.Depths), p.Schedules, yes(p.InPlace), order(p), p.Capacity, p.Scratch)
		total += p.Schedules
	}
	t.flush()
	fmt.Fprintf(c.stdout, "\n%d %s, %d schedules proved. Capacity is how many messages a channel has to hold, scratch is in slots.\n",
		len(found), plural(len(found), "algorithm"), total)
	return nil
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
