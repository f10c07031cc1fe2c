package catalogue

import (
	"testing"

	"github.com/collgen/collgen/gen"
)

// leastBetweenHosts is how many chunks of a block all hosts together have to send to others, over the numbers of hosts
// and of ranks on each.
var leastBetweenHosts = map[*gen.Algorithm]func(hosts, local int) int{
	// of hosts × local chunks
	&AllReduceTwoLevel:     func(hosts, local int) int { return 2 * (hosts - 1) * hosts * local },
	&BroadcastTwoLevel:     func(hosts, _ int) int { return hosts - 1 },
	&ReduceTwoLevel:        func(hosts, _ int) int { return hosts - 1 },
	&AllGatherTwoLevel:     func(hosts, local int) int { return hosts * (hosts - 1) * local },
	&ReduceScatterTwoLevel: func(hosts, local int) int { return hosts * (hosts - 1) * local },
	&AllToAllTwoLevel:      func(hosts, local int) int { return hosts * (hosts - 1) * local * local },
	&BarrierTwoLevel:       func(_, _ int) int { return 0 },
}

// TestTwoLevelBytes: in every call, hosts send each other the fewest bytes.
func TestTwoLevelBytes(t *testing.T) {
	for a, least := range leastBetweenHosts {
		for size := 2; size <= 24; size++ {
			for _, p := range a.Calls(size) {
				messages, chunks := betweenHosts(t, a, p)
				if want := least(size/p.Local, p.Local); sum(chunks) != want {
					t.Errorf("%s, %+v: in %d messages, hosts send %v chunks to others, %d at least", a.FullName(), p, sum(messages),
						chunks, want)
				}
			}
		}
	}
}

// TestTwoLevelAllReduceIsEven: each host sends 2 (hosts-1) / hosts of a block.
func TestTwoLevelAllReduceIsEven(t *testing.T) {
	for size := 2; size <= 24; size++ {
		for _, p := range AllReduceTwoLevel.Calls(size) {
			_, chunks := betweenHosts(t, &AllReduceTwoLevel, p)
			for host, n := range chunks {
				if n != 2*(len(chunks)-1)*p.Local {
					t.Errorf("%+v: host %d sends %d of %d chunks to others", p, host, n, size)
				}
			}
		}
	}
}

// TestTwoLevelMessages: a host sends another one message in all, or one for each seat; the leaders of two hosts
// exchange one.
func TestTwoLevelMessages(t *testing.T) {
	for a, want := range map[*gen.Algorithm]int{&AllReduceLeaders: 2, &AllGatherTwoLevel: 2, &ReduceScatterTwoLevel: 8,
		&AllToAllTwoLevel: 8, &BarrierTwoLevel: 2} {
		messages, _ := betweenHosts(t, a, gen.Params{Size: 8, Depth: 1, Local: 4})
		if sum(messages) != want {
			t.Errorf("%s: two hosts of 4 ranks send each other %d messages, want %d", a.FullName(), sum(messages), want)
		}
	}
}

// betweenHosts returns how many messages, and chunks, each host sends to others.
func betweenHosts(t *testing.T, a *gen.Algorithm, p gen.Params) (messages, chunks []int) {
	s, err := gen.Instantiate(a, p)
	if err != nil {
		t.Fatal(err)
	}
	hosts := p.Size / p.Local
	messages, chunks = make([]int, hosts), make([]int, hosts)
	for rank := range s.Ranks {
		for _, in := range s.Ranks[rank].Instrs {
			if in.Kind == gen.SendInstr && in.Peer/s.Local != rank/s.Local {
				messages[rank/s.Local]++
				chunks[rank/s.Local] += in.Srcs[0].N
			}
		}
	}
	return messages, chunks
}

func sum(list []int) (n int) {
	for _, x := range list {
		n += x
	}
	return n
}
