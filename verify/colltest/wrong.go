package colltest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/collgen/collgen/spec"
)

// wrongs returns what can be wrong with a call of p on size ranks that the implementation has to refuse.
func (c *Capabilities) wrongs(p spec.Primitive, size int) (all []Wrong) {
	for _, wrong := range c.Refuses {
		if canBe(wrong, p, size) {
			all = append(all, wrong)
		}
	}
	return all
}

// wrong yields calls that have to be refused: of one primitive each way and mode once. If the ranks go on after one,
// it is made again as it should be.
func (c *Capabilities) wrong(of []Support, size int) iter.Seq[Case] {
	return func(yield func(Case) bool) {
		if len(of) > 1 {
			return
		}
		w := swept{c: c, of: of[0], size: size, roots: calls(of[0].Primitive, size), i: size}
		kinds := c.reductions(of[0].Primitive)
		wrongs := c.wrongs(of[0].Primitive, size)
		slices.Sort(wrongs) // after one of counts a world is over, and the next one goes on after a wrong root
		for i, wrong := range wrongs {
			for _, mode := range append(c.modes(), Blocking) {
				s := w.step(kinds[(size+i)%len(kinds)], of[0].forms()[0])
				s.Wrong, s.Mode, s.Count = wrong, mode, c.within(5)
				steps := []Step{s}
				if s.Wrong = ""; c.AfterWrong && wrong == WrongRoot {
					steps = append(steps, s)
				}
				if !yield(Case{Size: size, Steps: steps}) {
					return
				}
				if on, is := c.onSome(steps, of[0].Primitive, size); is && wrong == WrongRoot && !yield(on) {
					return
				}
			}
		}
	}
}

// onSome returns the same calls on a communicator without rank 0, whose members are fewer than the world's, if there
// are such calls.
func (c *Capabilities) onSome(steps []Step, p spec.Primitive, size int) (on Case, is bool) {
	members := size - 1
	if !c.Split || members < 2 || len(calls(p, members)) == 0 {
		return on, false
	}
	on = Case{Size: size, Steps: slices.Clone(steps), Comms: []Split{{Colors: make([]int, size), Keys: make([]int, size)}}}
	on.Comms[0].Colors[0] = -1
	first := calls(p, members)[0]
	for i := range on.Steps {
		on.Steps[i].Comm, on.Steps[i].Root, on.Steps[i].Peer = 1, first.Root, first.Peer
	}
	return on, true
}

// canBe reports whether a call of p on size ranks can be wrong in that way.
func canBe(wrong Wrong, p spec.Primitive, size int) bool {
	switch wrong {
	case WrongRoot:
		return slices.Contains(p.Params, spec.ParamRoot)
	case WrongCounts:
		return hasBuffers(p) && !slices.Contains(p.Params, spec.ParamPeer) && size > 1
	}
	return false
}

// wrongRoot returns a root that is no rank. The sender of a message may be -1, which is any rank for some libraries.
func (s *Step) wrongRoot(size int) int {
	if s.Primitive == spec.Send.Name {
		return size + int(s.Values.Seed%2)
	}
	return []int{size, -1, size + 1}[s.Values.Seed%3]
}

// longer returns the place of the rank that has one element more in each block.
func (s *Step) longer(size int) int { return int(s.Values.Seed % uint64(size)) }

// beyond is the wrong root in words.
func (s *Step) beyond() string {
	switch s.wrongRoot(0) {
	case 0:
		return "the number of ranks"
	case 1:
		return "the number of ranks and 1"
	}
	return "-1"
}

// spoil makes the call wrong. The root is changed later, in the ranks' parts.
func (t *trial) spoil(p spec.Primitive) error {
	if !canBe(t.step.Wrong, p, len(t.x.Ranks)) || t.step.Counts != nil {
		return fmt.Errorf("%s on %d ranks cannot have a wrong %q", p.Name, len(t.x.Ranks), t.step.Wrong)
	}
	if t.step.Wrong != WrongCounts {
		return nil
	}
	rank := t.step.longer(len(t.x.Ranks))
	for _, counts := range [][]int{t.shape.in[rank], t.shape.out[rank]} {
		for b := range counts {
			counts[b]++
		}
	}
	t.step.displace(t.x, &t.shape)
	random := rand.New(rand.NewPCG(t.step.Values.Seed, 0))
	for b, n := range t.shape.in[rank] {
		t.inputs[rank][b] = elements[t.step.Type].draw(random, t.step.Values, n)
	}
	return nil
}

// accepted returns the problem that a wrong call was not refused, by the places of the ranks that have returned no
// error.
func (t *trial) accepted(refused []bool) []Problem {
	var without []int
	for place, rank := range t.members {
		if t.calls[place] != nil && !refused[place] {
			without = append(without, rank)
		}
	}
	if len(without) == 0 || t.step.Wrong == WrongCounts && slices.Contains(refused, true) {
		return nil
	}
	return []Problem{{Kind: Accepted, Rank: -1, Text: fmt.Sprintf("from %s, ranks %v have returned without an error",
		t.called(), without)}}
}
