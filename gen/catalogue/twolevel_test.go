package catalogue

import (
	"testing"

	"github.com/collgen/collgen/gen"
)

// TestTwoLevelBytes: in every all-reduce, what each host sends to others is 2 (hosts-1) / hosts of a block, the least.
func TestTwoLevelBytes(t *testing.T) {
	for size := 2; size <= 24; size++ {
		for _, p := range AllReduceTwoLevel.Calls(size) {
			s, err := gen.Instantiate(&AllReduceTwoLevel, p)
			if err != nil {
				t.Fatal(err)
			}
			hosts := size / p.Local
			chunks := make([]int, hosts) // that each host sends
			for rank := range s.Ranks {
				chunks[rank/p.Local] += sentToOthers(s, rank)
			}
			for host, n := range chunks {
				if n*hosts != 2*(hosts-1)*s.Chunks {
					t.Errorf("%+v: host %d sends %d of %d chunks to others", p, host, n, s.Chunks)
				}
			}
		}
	}
}

// sentToOthers returns how many chunks a rank sends to ranks of other hosts.
func sentToOthers(s *gen.Schedule, rank int) (chunks int) {
	for _, in := range s.Ranks[rank].Instrs {
		if in.Kind == gen.SendInstr && in.Peer/s.Local != rank/s.Local {
			chunks += in.Srcs[0].N
		}
	}
	return chunks
}
