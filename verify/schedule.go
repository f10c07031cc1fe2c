package verify

import (
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// Schedule proves s for calls in place or out of place. Its error is a *Failure, or says that the question is wrong:
// the primitive has no form in place, or refuses these parameters (*spec.RefusedError).
//
// Nothing is presumed of s: it may come from anywhere. A receive AfterSend may name any send to its peer here. A
// transport can tell which one it follows only where its step has one send to that peer, which gen.Instantiate checks.
func Schedule(s *gen.Schedule, inPlace bool) (Report, error) {
	var c checker
	if err := c.load(s); err != nil {
		return Report{}, err
	}
	if inPlace && !c.canBeInPlace() {
		return Report{}, fmt.Errorf("%s cannot be in place", s.Algorithm)
	}
	err := c.prove(inPlace)
	return c.report, err
}

// Channel is what one channel of a schedule needs.
type Channel struct {
	From     int `json:"from"`
	To       int `json:"to"`
	Channel  int `json:"channel"`
	Messages int `json:"messages"`
	Capacity int `json:"capacity"` // how many messages it has to hold; 0: none, a send may wait for its receive
}

// Channels returns the channels of s, by from, to and channel, with capacities that suffice together and of which none
// can be lowered alone. There can be several such: where two ranks exchange messages, one of the two channels has to
// hold one. Its error is that of Schedule, also where there are so many channels that it would take minutes.
func Channels(s *gen.Schedule) ([]Channel, error) {
	var c checker
	if err := c.load(s); err != nil {
		return nil, err
	}
	capacity, err := c.channelCapacities()
	if err != nil {
		return nil, err
	}
	list := make([]Channel, len(capacity))
	for ch := range list {
		send := c.sends[c.channel[ch]]
		in := c.source(send)
		list[ch] = Channel{From: int(c.ins[send].rank), To: in.Peer, Channel: in.Channel,
			Messages: int(c.channel[ch+1] - c.channel[ch]), Capacity: int(capacity[ch])}
	}
	slices.SortFunc(list, func(a, b Channel) int {
		return slices.Compare([]int{a.From, a.To, a.Channel}, []int{b.From, b.To, b.Channel})
	})
	return list, nil
}

// The passes, in order. Those in both are made once more in place, where addresses matter.
var (
	passes = []func(*checker) *Failure{(*checker).checkShape, (*checker).checkKnown, (*checker).matchMessages,
		(*checker).checkDeadlock, (*checker).checkEntered}
	both = []func(*checker) *Failure{(*checker).checkFrame, (*checker).checkAlias, (*checker).checkRace,
		(*checker).checkSlots, (*checker).checkResults, (*checker).checkLend}
)

// load makes the passes that do not depend on whether the call is in place.
func (c *checker) load(s *gen.Schedule) error {
	c.s, c.report, c.inPlace = s, Report{}, false
	err := c.tooLarge()
	if err != nil {
		return err
	}
	c.want, err = spec.Expect(s.Primitive, spec.Call{Size: s.Size, Root: s.Root, Peer: s.Peer})
	var refused *spec.RefusedError
	switch {
	case errors.As(err, &refused):
		return err
	case err != nil:
		return c.noProgram(err)
	}
	return c.pass(passes)
}

// tooLarge refuses, before it takes memory, what its own numbers do not bear out.
func (c *checker) tooLarge() error {
	f := c.failure(Shape, -1)
	if c.s.Size != len(c.s.Ranks) {
		f.Got = fmt.Sprintf("programs of %d ranks, for %d", len(c.s.Ranks), c.s.Size)
		return f
	}
	blocks := 0
	for rank := range c.s.Ranks {
		for _, b := range []spec.Buffer{c.s.Primitive.In, c.s.Primitive.Out} {
			n, err := b.Len(c.s.Env(rank))
			if err != nil {
				return c.noProgram(err)
			}
			if blocks += n; n < 0 || n > limit || blocks > limit {
				f.Got = fmt.Sprintf("rank %d has %d blocks", rank, n)
				return f
			}
		}
	}
	return nil
}

func (c *checker) noProgram(err error) *Failure {
	f := c.failure(Program, -1)
	f.Got, f.Err = err.Error(), err
	return f
}

// prove makes the remaining passes, and completes the report.
func (c *checker) prove(inPlace bool) error {
	c.layout(inPlace)
	c.search.steps = max(searchSteps, searchStepsEach*len(c.ins))
	return c.pass(both)
}

func (c *checker) pass(list []func(*checker) *Failure) error {
	for _, pass := range list {
		if f := pass(c); f != nil {
			return f
		}
	}
	return nil
}

// canBeInPlace reports whether some rank can use one memory for In and Out.
func (c *checker) canBeInPlace() bool {
	if c.s.Requires.OutOfPlace {
		return false
	}
	for _, r := range c.want.Ranks {
		if r.InBlock >= 0 {
			return true
		}
	}
	return false
}
