package colltest

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"
)

// part is one rank's part of a performance.
type part struct {
	*performance
	w        World
	rank     int
	random   *rand.Rand          // draws the order of calls and waits; nil: they are in order
	open     []opened            // calls that were started, and not waited for
	prepared map[*trial]prepared // by the trial that has prepared it
	numbers  map[int]int         // by which the world knows communicators, ascending: cases do not share any
}

// opened is a call that has begun.
type opened struct {
	trial   int
	c       *Call
	wait    Wait
	unwatch func() (changed bool)
}

// prepared is a persistent call with its memory.
type prepared struct {
	Prepared
	c *Call
}

func newPart(p *performance, w World, rank int) *part {
	r := &part{performance: p, w: w, rank: rank, prepared: map[*trial]prepared{}, numbers: map[int]int{}}
	if p.c.Order != 0 {
		r.random = rand.New(rand.NewPCG(p.c.Order, 1+uint64(rank)))
	}
	return r
}

// make makes the rank's part of all trials. It stops after an error, after which the state of the rank is unknown.
func (r *part) make(ctx context.Context, units []unit) {
	defer func() {
		if ctx.Err() == nil { // otherwise it was still doing so when the time was over
			r.does[r.rank].Store(0)
		}
	}()
	around := r.around()
	if r.split(ctx, around) && r.all(ctx, units) && r.waitAll(ctx) {
		r.free(ctx, around)
	}
}

// What a rank does: it makes its communicators, is in a call or between calls, in a start that should not wait for
// other ranks, and frees what it has made.
const split, call, start, free int32 = 1, 2, 3, 4

// all makes the trials, and waits for some of those that were started in between.
func (r *part) all(ctx context.Context, units []unit) bool {
	for i := range units {
		u := &units[i]
		if !r.unit(ctx, u) || !r.waitOn(ctx, u.frees) || !r.free(ctx, u.frees) {
			return false
		}
		if r.random != nil && r.c.Order%2 == 0 && len(r.open) > 0 && r.random.IntN(4) == 0 && !r.waitAny(ctx) {
			return false
		}
	}
	return true
}

// unit makes or starts the calls of u.
func (r *part) unit(ctx context.Context, u *unit) bool {
	order := u.order(r.random)
	if u.batch {
		for _, i := range u.trials {
			if !r.splitFor(ctx, i) {
				return false
			}
		}
		return r.batch(ctx, order)
	}
	for _, i := range order {
		if !r.splitFor(ctx, i) || r.trials[i].place(r.rank) >= 0 && !r.one(ctx, i) {
			return false
		}
	}
	return true
}

// one makes a call, or starts it.
func (r *part) one(ctx context.Context, i int) bool {
	t := r.trials[i]
	if t.calls[t.place(r.rank)] == nil {
		return true
	}
	switch t.step.Mode {
	case Started:
		return r.batch(ctx, []int{i})
	case Persistent:
		return r.again(ctx, i)
	}
	o := r.enter(ctx, i, r.copied(i))
	return r.leave(ctx, o, guarded(func() error { return r.w.Call(ctx, r.rank, o.c) }))
}

// batch starts calls together.
func (r *part) batch(ctx context.Context, trials []int) bool {
	var mine []opened
	var calls []*Call
	for _, i := range trials {
		if at := r.trials[i].place(r.rank); at >= 0 && r.trials[i].calls[at] != nil {
			o := r.enter(ctx, i, r.copied(i))
			mine, calls = append(mine, o), append(calls, o.c)
		}
	}
	if len(calls) == 0 {
		return true
	}
	var waits []Wait
	r.does[r.rank].Store(start)
	err := guarded(func() error {
		waits = r.w.(Starter).Start(ctx, r.rank, calls...)
		return nil
	})
	r.does[r.rank].Store(call)
	if err == nil && len(waits) != len(calls) {
		err = fmt.Errorf("%d calls were started, and %d can be waited for", len(calls), len(waits))
	}
	if err != nil {
		return r.leave(ctx, mine[0], err)
	}
	for i := range mine {
		mine[i].wait = waits[i]
		r.opens(mine[i])
	}
	return true
}

// opens notes that a call was started. The memory around its buffers is the caller's, which changes it until it waits
// for the call.
func (r *part) opens(o opened) {
	if r.direct {
		o.c.invertAround()
	}
	r.open = append(r.open, o)
}

// waitAny waits for a call that was started: the first one, or any if the order is drawn.
func (r *part) waitAny(ctx context.Context) bool {
	at := 0
	if r.random != nil {
		at = r.random.IntN(len(r.open))
	}
	return r.wait(ctx, at)
}

// waitAll waits for all calls that were started.
func (r *part) waitAll(ctx context.Context) bool {
	for len(r.open) > 0 {
		if !r.waitAny(ctx) {
			return false
		}
	}
	return true
}

// waitOn waits for the calls that were started on some communicators.
func (r *part) waitOn(ctx context.Context, comms []int) bool {
	for len(comms) > 0 {
		at := slices.IndexFunc(r.open, func(o opened) bool { return slices.Contains(comms, r.trials[o.trial].step.Comm) })
		if at < 0 {
			break
		}
		if !r.wait(ctx, at) {
			return false
		}
	}
	return true
}

// wait waits for an open call. It closes a persistent one that was made as often as it is to be.
func (r *part) wait(ctx context.Context, at int) bool {
	o := r.open[at]
	r.open = slices.Delete(r.open, at, at+1)
	err := guarded(func() error { return o.wait(ctx) })
	if r.direct {
		o.c.invertAround()
	}
	if !r.leave(ctx, o, err) {
		return false
	}
	t := r.trials[o.trial]
	p, is := r.prepared[t.first]
	if !is || t.first.last != t {
		return true
	}
	delete(r.prepared, t.first)
	return r.freeing(p.Close)
}

// copied returns the rank's part of a trial, with memory of its own.
func (r *part) copied(i int) *Call {
	t := r.trials[i]
	c := t.calls[t.place(r.rank)].Clone()
	c.Comm = r.numbers[c.Comm]
	return c
}

// enter notes that the rank begins a call, after its delay.
func (r *part) enter(ctx context.Context, i int, c *Call) opened {
	t := r.trials[i]
	place := t.place(r.rank)
	if t.step.Delay > 0 && t.step.Late == place {
		time.Sleep(t.step.Delay)
	}
	o := opened{trial: i, c: c, unwatch: func() bool { return false }}
	if r.direct && !c.InPlace && len(c.In()) > 0 && t.step.Values.Seed%4 == 0 {
		o.unwatch = watch(ctx, c.In(), t.calls[place].In())
	}
	r.entered[i][place].Store(true)
	return o
}

// leave notes what a call has left, and reports whether the rank goes on.
func (r *part) leave(ctx context.Context, o opened, err error) bool {
	i, t := o.trial, r.trials[o.trial]
	place := t.place(r.rank)
	early := r.absent(i, place)
	if o.unwatch() {
		r.report(r.at(i, Problem{Kind: Stray, Rank: place, Text: "its input was changed during the call"}))
	}
	r.left[i][place].Store(err == nil || ctx.Err() == nil) // a rank that ctx had to end was inside
	if r.after[i][place] = o.c.Memory; len(o.c.Memory) < mostCopied || t.step.Mode == Persistent {
		r.after[i][place] = bytes.Clone(o.c.Memory)
		if r.direct && err == nil { // the memory is the caller's again, and nobody may read it or write to it
			for rest := o.c.Memory; len(rest) > 0; {
				rest = rest[subtle.XORBytes(rest, rest, ones[:]):]
			}
		}
	}
	switch {
	case errors.Is(err, ErrCannot):
		r.cannot[i][place] = true
		return true
	case err != nil && t.step.Wrong != "" && ctx.Err() == nil:
		r.refused[i][place] = true
		return t.step.Wrong == WrongRoot // all refuse it
	case err != nil:
		r.report(r.at(i, Problem{Kind: Erred, Rank: place, Text: "error: " + err.Error()}))
		return false
	case len(early) > 0:
		text := fmt.Sprintf("it has left before ranks %v had come", early)
		r.report(r.at(i, Problem{Kind: Early, Rank: place, Text: text}))
	}
	return true
}

// ones are bytes of bits that are 1.
var ones = [4096]byte(bytes.Repeat([]byte{0xff}, 4096))

// mostCopied is the number of bytes from which on memory is not copied after a call.
const mostCopied = 1 << 30

// guarded returns the error of f, or a panic of it as an error.
func guarded(f func() error) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("panic: %v\n%s", x, debug.Stack())
		}
	}()
	return f()
}
