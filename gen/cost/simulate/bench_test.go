package simulate

import (
	"fmt"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
)

// BenchmarkPlay plays all-reduces of 64 MiB on hosts of 8 ranks.
func BenchmarkPlay(b *testing.B) {
	m := cluster()
	for _, a := range []*gen.Algorithm{&catalogue.AllReduceTree, &catalogue.AllReduceRecursiveDoubling,
		&catalogue.AllReduceRing, &catalogue.AllReduceTwoShot} {
		for _, n := range []int{128, 1024} {
			b.Run(fmt.Sprintf("%s/ranks=%d", a.Name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r, err := Play(b.Context(), &m, Call{Algorithm: a, Params: gen.Params{Size: n, Depth: 1}, Block: 64 << 20,
						InPlace: true})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(r.Messages), "messages")
				}
			})
		}
	}
}

// cluster is hosts of 8 ranks, in racks of 16.
func cluster() Machine {
	return Machine{
		RanksPerHost: 8, HostsPerRack: 16, Segment: 256 << 10,
		Near: Path{Alpha: 300 * ns, Overhead: 100 * ns, Put: Constant(100 * ps), Take: Constant(100 * ps),
			Fold: Constant(150 * ps)},
		Far:  Path{Alpha: 5 * us, Overhead: 500 * ns, Link: 80 * ps, Fold: Constant(100 * ps)},
		Rack: Uplink{Alpha: 1 * us, Link: 10 * ps},
		Copy: Constant(100 * ps), Reduce: Constant(100 * ps),
	}
}
