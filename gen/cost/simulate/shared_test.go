package simulate

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
)

// TestShared works out by hand how long calls take where ranks share links and cores.
func TestShared(t *testing.T) {
	alone, shared := Flat(0, 1*ns, 0), Flat(0, 1*ns, 0)
	shared.RanksPerHost = 4
	uplinks := Machine{RanksPerHost: 1, HostsPerRack: 4, Segment: 1 << 20, Rack: Uplink{Link: 2 * ns}}
	intoOne, fastIn := uplinks, uplinks
	intoOne.HostsPerRack, fastIn.HostsPerRack, fastIn.Far.Link = 2, 2, 1*ns
	for _, tc := range []struct {
		name      string
		m         Machine
		algorithm *gen.Algorithm
		want      Time // in nanoseconds
	}{
		{"ranks with a link of their own", alone, &catalogue.AllToAllDirect, 7 * 1000},
		{"four ranks of a host, on one link", shared, &catalogue.AllToAllDirect, 4 * 4 * 1000},
		{"an uplink, half as fast", uplinks, &catalogue.AllToAllDirect, 2 * 4 * 4 * 1000},
		{"three racks that send to one", intoOne, &catalogue.GatherLinear, 2 * 3 * 2 * 1000},
		// The last byte waits for the uplink, although the link into the host has been free for long.
		{"a link behind an uplink half as fast", fastIn, &catalogue.GatherLinear, 2 * 3 * 2 * 1000},
		{"cores of ranks", Machine{Segment: 1 << 20, Near: Path{Put: Constant(1 * ns)}}, &catalogue.AllToAllDirect, 7 * 1000},
		{"two cores for eight ranks", Machine{Cores: 2, Segment: 1 << 20, Near: Path{Put: Constant(1 * ns)}},
			&catalogue.AllToAllDirect, 4 * 7 * 1000},
		{"memory of a host", Machine{Segment: 1 << 20, Near: Path{Link: 1 * ns}}, &catalogue.AllToAllDirect, 8 * 7 * 1000},
	} {
		r, err := Play(t.Context(), &tc.m, Call{Algorithm: tc.algorithm, Params: gen.Params{Size: 8, Depth: 1}, Block: 1000,
			InPlace: true})
		if err != nil || r.Time != tc.want*1000 {
			t.Errorf("%s: %d %v, %v, want %d ns", tc.name, r.Time, r.Parts, err, tc.want)
		}
	}
}

// TestMean has rank 0 put 1000 bytes for rank 1, which takes them 2 µs later, while rank 2 has nothing to do.
func TestMean(t *testing.T) {
	m := Machine{Segment: 1000, Near: Path{Alpha: 2 * us, Put: Constant(1 * ns), Take: Constant(2 * ns)}}
	r, err := Play(t.Context(), &m, call(&catalogue.SendDirect, 3, 1000))
	if err != nil || r.Time != 5*1000_000 || r.Mean != (1000_000+5*1000_000)/3 {
		t.Errorf("%+v, %v, want 5 µs, and 2 µs on the average", r, err)
	}
}

// TestSwitch has two ranks swap a byte on one core: it puts for the one and for the other, which can take at once, has
// nothing to do while the byte is on its way back, and then goes back to the one.
func TestSwitch(t *testing.T) {
	m := Machine{Cores: 1, Segment: 1, Switch: 100 * ns, Near: Path{Put: Constant(1 * ns), Take: Constant(2 * ns),
		Alpha: 10 * ns}}
	r, err := Play(t.Context(), &m, Call{Algorithm: &catalogue.AllToAllDirect, Params: gen.Params{Size: 2, Depth: 1},
		Block: 1, InPlace: true})
	if want := (Parts{Latency: 10_000, Copying: 4_000, Switching: 200_000}); err != nil || r.Parts != want {
		t.Errorf("%v, %v, want %v", r.Parts, err, want)
	}
}

// TestHost works out by hand what ranks of a host share.
func TestHost(t *testing.T) {
	copies := Machine{Segment: 1000, Near: Path{Put: Constant(1 * ns), Take: Constant(1 * ns)}}
	ring, board, calls, passes := copies, copies, Machine{Segment: 1, Call: 1 * us},
		Machine{Segment: 1, Cores: 1, Switch: 1 * us}
	ring.Ring, board.Near.Share = 1, true
	for _, tc := range []struct {
		name string
		m    Machine
		call Call
		want Time // in nanoseconds
	}{
		{"four segments, one put while the one before is taken", copies, call(&catalogue.SendDirect, 2, 4000), 5000},
		{"room for one segment, which is put or taken", ring, call(&catalogue.SendDirect, 2, 4000), 8000},
		{"three copies put, while others are taken, and the last one taken", copies, call(&catalogue.AllGatherDirect, 4,
			1000), 6000},
		{"one copy put for all", board, call(&catalogue.AllGatherDirect, 4, 1000), 4000},
		{"each call has its price", calls, call(&catalogue.BarrierDissemination, 2, 0), 1000},
		// The core goes round: from 0 to 1 and 2, each of which puts, back to 0, which takes, and to 1, which has to
		// wait for 2.
		{"a core goes round its ranks", passes, call(&catalogue.AllToAllDirect, 3, 1), 4000},
	} {
		r, err := Play(t.Context(), &tc.m, tc.call)
		if err != nil || r.Time != tc.want*1000 {
			t.Errorf("%s: %d ns %v, %v, want %d", tc.name, r.Time/1000, r.Parts, err, tc.want)
		}
	}
}

func call(a *gen.Algorithm, size, block int) Call {
	return Call{Algorithm: a, Params: gen.Params{Size: size, Peer: 1, Depth: 1}, Block: block, InPlace: true}
}

// TestSpin: a rank that waits for another core keeps its own from the next rank for a while; one that waits for that
// rank does not.
func TestSpin(t *testing.T) {
	play := func(cores, size int, spin float64) Time {
		m := Machine{Segment: 1, Cores: cores, Spin: spin, Switch: 1 * us, Near: Path{Alpha: 1 * us}}
		r, err := Play(t.Context(), &m, call(&catalogue.AllGatherRing, size, 1))
		if err != nil {
			t.Fatal(err)
		}
		return r.Time
	}
	if two, three := play(1, 2, 0), play(1, 2, 10*us); two != three {
		t.Errorf("ranks of one core: %d, and %d if they spin", two, three)
	}
	if two, three := play(2, 4, 0), play(2, 4, 10*us); two >= three {
		t.Errorf("ranks of two cores: %d, and %d if they spin", two, three)
	}
}
