package colltest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Split makes communicators of the ranks with the same color, in the order of their keys.
type Split struct {
	Colors  []int // by rank; -1: it gets no communicator
	Keys    []int
	Between bool `json:",omitzero"` // made before the first call on them and freed after the last one, beside other calls
}

// members returns the ranks with a color in the order of their keys.
func (s *Split) members(color int) (ranks []int) {
	for rank, c := range s.Colors {
		if c == color {
			ranks = append(ranks, rank)
		}
	}
	slices.SortStableFunc(ranks, func(a, b int) int { return cmp.Compare(s.Keys[a], s.Keys[b]) })
	return ranks
}

// colors returns the colors of which there is a communicator, in ascending order.
func (s *Split) colors() []int {
	all := slices.Clone(s.Colors)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(color int) bool { return color < 0 })
}

// mostComms and mostColor are limits for a handwritten Case.
const mostComms, mostColor = 512, 1 << 20

// checkComms returns an error if the communicators of c are none.
func (c *Case) checkComms() error {
	if len(c.Comms) > mostComms {
		return fmt.Errorf("%d communicators", len(c.Comms))
	}
	for i, s := range c.Comms {
		if len(s.Colors) != c.Size || len(s.Keys) != c.Size {
			return fmt.Errorf("communicator %d has colors of %d ranks and keys of %d, not of %d", i+1, len(s.Colors),
				len(s.Keys), c.Size)
		}
		for rank := range s.Colors {
			if s.Colors[rank] < -1 || s.Colors[rank] > mostColor || s.Keys[rank] != int(int32(s.Keys[rank])) {
				return fmt.Errorf("communicator %d: rank %d has color %d and key %d", i+1, rank, s.Colors[rank], s.Keys[rank])
			}
		}
	}
	return nil
}

// members returns the ranks that make the calls of s, in the order of its communicator; nobody if there is no such
// communicator.
func (c *Case) members(s *Step) []int {
	if s.Comm == 0 {
		all := make([]int, c.Size)
		for rank := range all {
			all[rank] = rank
		}
		return all
	}
	if s.Comm < 0 || s.Comm > len(c.Comms) || s.Color < 0 {
		return nil
	}
	return c.Comms[s.Comm-1].members(s.Color)
}

// wideKeys are keys that differ in their order if they lose bits, or their sign.
var wideKeys = []int{math.MinInt32, -129, -128, -1, 0, 1, 127, 128, 255, 256, 32767, 32768, 65536, math.MaxInt32}

// wideColors are colors that are the same if they lose bits.
var wideColors = []int{0, 256, 65536}

// drawComms draws one to four splits of the ranks into groups of any sizes, in which ranks may have another order.
func drawComms(random *rand.Rand, size int) (comms []Split) {
	for range 1 + random.IntN(3) {
		s, groups, wide := Split{}, 1+random.IntN(min(size, len(wideColors))), random.IntN(3) == 0
		for range size {
			key := random.IntN(size)
			if wide {
				key = pick(random, wideKeys)
			}
			s.Colors, s.Keys = append(s.Colors, random.IntN(groups)), append(s.Keys, key)
		}
		if random.IntN(3) == 0 {
			for rank, color := range s.Colors {
				s.Colors[rank] = wideColors[color]
			}
		}
		if random.IntN(3) == 0 {
			s.Colors[random.IntN(size)] = -1
		}
		if s.Between = random.IntN(2) == 0; len(s.colors()) > 0 {
			comms = append(comms, s)
		}
		if len(comms) == 1 && random.IntN(2) == 0 {
			comms = append(comms, comms[0]) // other communicators of the same ranks
		}
	}
	return comms
}

// fewer returns s without the ranks from size on.
func (s Split) fewer(size int) Split {
	s.Colors, s.Keys = s.Colors[:size], s.Keys[:size]
	return s
}

// String returns the members of the communicators, by color.
func (s Split) String() (text string) {
	for i, color := range s.colors() {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("color %d: ranks %v", color, s.members(color))
	}
	return text
}
