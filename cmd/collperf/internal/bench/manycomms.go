package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/collgen/collgen/cmd/collperf/internal/machine"
	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/internal/figures"
)

// ManyComms is the cost of many communicators of the same ranks.
type ManyComms struct {
	Communicators int    `json:"communicators"`
	Transport     string `json:"transport"`
	Ranks         int    `json:"ranks"`
	// The cost of one communicator, as the mean over all ranks: the time to make it, and the bytes and file descriptors
	// that a rank has more once all were used. Memory that several processes share counts in equal parts. -1: not known.
	MakeMicroseconds float64 `json:"makeMicroseconds"`
	Bytes            float64 `json:"bytes"`
	Files            float64 `json:"files"`
	// The time of an all-reduce of 8 bytes, on one communicator, and on all of them in turn.
	OneMicroseconds  float64 `json:"oneMicroseconds"`
	EachMicroseconds float64 `json:"eachMicroseconds"`
}

// Print prints r as a line of text or, for the format json, as JSON.
func (r *ManyComms) Print(w io.Writer, format string) error {
	if format == "json" {
		return json.NewEncoder(w).Encode(r)
	}
	memory := "memory unknown"
	if r.Bytes >= 0 {
		memory = fmt.Sprintf("%s KiB and %s files", figures.Number(r.Bytes/1024), figures.Number(r.Files))
	}
	_, err := fmt.Fprintf(w, "%d communicators of %d ranks over %s: each %s us to make, %s per rank; "+
		"all-reduce of 8 bytes: %s us on one of them, %s us on each in turn\n", r.Communicators, r.Ranks, r.Transport,
		figures.Number(r.MakeMicroseconds), memory, figures.Number(r.OneMicroseconds), figures.Number(r.EachMicroseconds))
	return err
}

// MeasureComms makes copies of c, makes calls on all of them for some rounds, and measures what that takes.
func MeasureComms(ctx context.Context, c *fast.Comm, transport string, copies, rounds int) (r *ManyComms, err error) {
	r = &ManyComms{Communicators: copies, Transport: transport, Ranks: c.Size()}
	if _, err := callInTurn(ctx, []*fast.Comm{c}, rounds); err != nil {
		return nil, err
	}
	before := machine.CurrentUsage()
	all, made, err := duplicate(ctx, c, copies)
	defer func() {
		for _, c := range all {
			err = errors.Join(err, c.Close())
		}
	}()
	if err != nil {
		return nil, err
	}
	if _, err := callInTurn(ctx, all, 2); err != nil { // they allocate memory when they are first used
		return nil, err
	}
	after := machine.CurrentUsage()
	one, err := callInTurn(ctx, all[:1], rounds*len(all))
	if err != nil {
		return nil, err
	}
	each, err := callInTurn(ctx, all, rounds)
	if err != nil {
		return nil, err
	}
	n := float64(len(all))
	mean := Times{made / n, (after.Bytes - before.Bytes) / n, (after.Files - before.Files) / n, one, each}
	err = mean.average(ctx, c)
	r.MakeMicroseconds, r.Bytes, r.Files, r.OneMicroseconds, r.EachMicroseconds = mean[0], mean[1], mean[2], mean[3],
		mean[4]
	if after.Bytes < 0 {
		r.Bytes, r.Files = -1, -1
	}
	return r, err
}

// duplicate returns n duplicates of c, and how long it took to make them, in microseconds.
func duplicate(ctx context.Context, c *fast.Comm, n int) (all []*fast.Comm, took float64, err error) {
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

// callInTurn returns the mean time of a call, in microseconds, over some rounds on all communicators.
func callInTurn(ctx context.Context, all []*fast.Comm, rounds int) (float64, error) {
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
