package gen

import "github.com/collgen/collgen/spec"

// UnusedScratch is, for each rank, how many of the last slots of scratch that it asks for none of its instructions speaks
// of. Scratch is minimal where this is 0 on some rank of some call.
func UnusedScratch(s *Schedule) []int {
	unused := make([]int, len(s.Ranks))
	for rank := range s.Ranks {
		p := &s.Ranks[rank]
		used := 0
		for i := range p.Instrs {
			in := &p.Instrs[i]
			for _, place := range append(in.Srcs[:len(in.Srcs):len(in.Srcs)], in.Dst) {
				if place.Buf == spec.Scratch {
					used = max(used, place.At+place.N)
				}
			}
		}
		unused[rank] = p.Scratch - used
	}
	return unused
}
