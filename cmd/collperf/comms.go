package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/collgen/collgen/fast"
)

// crowd is what many communicators of the same ranks cost.
type crowd struct {
	Communicators int    `json:"communicators"`
	Transport     string `json:"transport"`
	Ranks         int    `json:"ranks"`
	// Of one communicator, by the mean over all ranks: the time to make it, and what a rank has more of once all have
	// been used. Bytes are those of a process, or its share of what several have; -1: nothing says. Files are
	// descriptors.
	MakeMicroseconds float64 `json:"makeMicroseconds"`
	Bytes            float64 `json:"bytes"`
	Files            float64 `json:"files"`
	// The time of an all-reduce of 8 bytes, on one communicator and on all of them in turn.
	OneMicroseconds  float64 `json:"oneMicroseconds"`
	EachMicroseconds float64 `json:"eachMicroseconds"`
}

// printCrowds is collperf -comms.
func (o *options) printCrowds(ctx context.Context, stdout, stderr io.Writer) error {
	for _, setting := range o.settings {
		err := o.on(ctx, setting, stderr, func(ctx context.Context, c *fast.Comm) error {
			r, err := o.crowd(ctx, c)
			if err != nil || c.Rank() != 0 {
				return err
			}
			return r.print(stdout, o.format)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *crowd) print(w io.Writer, format string) error {
	if format == "json" {
		return json.NewEncoder(w).Encode(r)
	}
	memory := "memory unknown"
	if r.Bytes >= 0 {
		memory = fmt.Sprintf("%s KiB and %s files", number(r.Bytes/1024), number(r.Files))
	}
	_, err := fmt.Fprintf(w, "%d communicators of %d ranks over %s: each %s us to make, %s per rank; "+
		"all-reduce of 8 bytes: %s us on one of them, %s us on each in turn\n", r.Communicators, r.Ranks, r.Transport,
		number(r.MakeMicroseconds), memory, number(r.OneMicroseconds), number(r.EachMicroseconds))
	return err
}

// crowd makes and uses communicators.
func (o *options) crowd(ctx context.Context, c *fast.Comm) (r *crowd, err error) {
	r = &crowd{Communicators: o.comms, Transport: transportOf(c), Ranks: c.Size()}
	if _, err := inTurn(ctx, []*fast.Comm{c}, o.iterations); err != nil {
		return nil, err
	}
	before := holdings()
	all, made, err := copies(ctx, c, o.comms)
	defer func() {
		for _, c := range all {
			err = errors.Join(err, c.Close())
		}
	}()
	if err != nil {
		return nil, err
	}
	if _, err := inTurn(ctx, all, 2); err != nil { // what they need, they have then
		return nil, err
	}
	after := holdings()
	one, err := inTurn(ctx, all[:1], o.iterations*len(all))
	if err != nil {
		return nil, err
	}
	each, err := inTurn(ctx, all, o.iterations)
	if err != nil {
		return nil, err
	}
	n := float64(len(all))
	mean := times{made / n, (after.bytes - before.bytes) / n, (after.files - before.files) / n, one, each}
	err = mean.among(ctx, c)
	r.MakeMicroseconds, r.Bytes, r.Files, r.OneMicroseconds, r.EachMicroseconds = mean[0], mean[1], mean[2], mean[3], mean[4]
	if after.bytes < 0 {
		r.Bytes, r.Files = -1, -1
	}
	return r, err
}

// copies returns n communicators of the ranks of c, and how long it took to make them, in microseconds.
func copies(ctx context.Context, c *fast.Comm, n int) (all []*fast.Comm, took float64, err error) {
	start := time.Now()
	for range n {
		d, err := c.Dup(ctx)
		if err != nil {
			return all, 0, err
		}
		all = append(all, d)
	}
	return all, since(start), nil
}

// inTurn returns the time of a call, in microseconds, of so many rounds over all communicators.
func inTurn(ctx context.Context, all []*fast.Comm, rounds int) (float64, error) {
	buf := make([]float32, 2)
	start := time.Now()
	for range rounds {
		for _, c := range all {
			clear(buf)
			if err := fast.AllReduce(ctx, c, buf, fast.Sum); err != nil {
				return 0, err
			}
		}
	}
	return since(start) / float64(rounds*len(all)), nil
}
