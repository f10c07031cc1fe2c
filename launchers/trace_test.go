package launchers

import (
	"regexp"
	"testing"
)

// TestTrace has one of four ranks go astray. What their flight recorders have kept tells which one. A disagreement may
// be found while only two ranks have made the call: then these two disagree.
func TestTrace(t *testing.T) {
	for how, says := range map[string]string{
		"killed": `^Rank 2 is the odd one out: it wrote no trace`,
		"late":   `^Rank 2 is the odd one out: .* others did not`,
		"count":  `^Ranks? .*2 .*(odd|disagree).* call 15 of world, the count is .*101 on rank 2`,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p, port, dir := here(t), freePort(t), t.TempDir()
			ranks := byHand(p.with("COLL_TRACE="+dir), 4, func(rank int) []string { return torchrun(rank, 4, port) })
			_, errs := tryTogether(ranks, program("rollcall"), "-forever", "100", "-odd", "2", "-how", how)
			for i, err := range errs {
				if err == nil {
					t.Errorf("rank %d says nothing", i)
				}
			}
			if got := p.output(program("collrun"), "trace", dir); !regexp.MustCompile(says).MatchString(got) {
				t.Errorf("%s\nwant %s", got, says)
			}
		})
	}
}
