package simulate

import "github.com/collgen/collgen/gen"

// footprint returns how many bytes the ranks of one core work on, on the first host, which has so many: what they pass
// to the call, each in the larger of its two buffers, and the rings that they send through, all of which messages go
// round.
func (w *world) footprint(programs func(rank int) program, ranks int) (float64, error) {
	bytes := w.call.Blocks() * w.call.Block * ranks
	for r := range ranks {
		if w.m.Ring == 0 {
			break
		}
		longest, err := w.longest(programs(r), ranks)
		if err != nil {
			return 0, err
		}
		for _, n := range longest {
			bytes += w.m.Ring * min(n, w.m.Segment)
		}
	}
	return float64(bytes) / float64(coresFor(w.m, ranks)), nil
}

// longest returns the longest message that p sends to each of the first ranks.
func (w *world) longest(p program, ranks int) (map[int]int, error) {
	bytes := map[int]int{}
	for step, err := range p {
		if err != nil {
			return nil, err
		}
		for i := range step {
			in := &step[i]
			if n, ok := w.message(in); ok && in.Kind == gen.SendInstr && in.Peer < ranks &&
				!(w.m.Near.Share && repeats(step, i)) {
				bytes[in.Peer] = max(bytes[in.Peer], n)
			}
		}
	}
	return bytes, nil
}

// repeats reports whether instruction i of a step sends what the send before it does.
func repeats(step []gen.Instr, i int) bool {
	if step[i].Kind != gen.SendInstr {
		return false
	}
	for j := i - 1; j >= 0; j-- {
		if step[j].Kind == gen.SendInstr {
			return step[j].Srcs[0] == step[i].Srcs[0]
		}
	}
	return false
}
