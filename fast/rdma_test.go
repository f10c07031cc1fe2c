package fast

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/rdma/fabric"
	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

// rdmaWorld has ranks talk over RDMA alone.
var rdmaWorld = World{"rdma", func(t testing.TB, size int) []*Comm {
	return initComms(t, size, WithTransport("rdma"), overRDMA())
}}

// All tests of worlds are run over RDMA where there are devices for tests, and over simulated ones when they are asked
// for.
func init() {
	if vm.Inside() || os.Getenv("COLLGEN_RDMA") == "all" {
		Worlds = append(Worlds, rdmaWorld)
	}
}

// overRDMA has ranks talk over simulated devices of one fabric; or, where there are real ones for tests, over those.
func overRDMA() InitOption {
	f := fabric.New(fabric.Options{Inline: 200})
	return func(p *initConfig) {
		p.RDMADevice = "any"
		if vm.Inside() {
			p.RDMADevice = fasttest.DeviceOf(p.Rank)
			return
		}
		rank := p.Rank
		p.OpenRDMA = func(context.Context, int) (rails []rdma.Domain, err error) {
			for i := range 1 + rank%3 { // of one to three rails
				rails = append(rails, f.Domain(fmt.Sprintf("sim%d:%d", rank, i+1)))
			}
			return rails, nil
		}
	}
}

// deviceless has a rank have no device.
func deviceless(rank int) InitOption {
	return func(p *initConfig) {
		if p.Rank == rank {
			p.OpenRDMA = func(context.Context, int) ([]rdma.Domain, error) {
				return nil, errors.New("this host has no RDMA device")
			}
		}
	}
}

// TestForcedRDMA: of two ranks that may use nothing else, one has no device, or is told of none that there is. It says
// so, and the other one hears it.
func TestForcedRDMA(t *testing.T) {
	for _, x := range []struct {
		lame    InitOption
		text    string
		refused bool
	}{
		{deviceless(1), "cannot use RDMA: this host has no RDMA device", false},
		{WithRDMADevice("mlx5_0,is=fast"), `there is no setting "is"`, true},
	} {
		store, errs := NewMemoryStore(), make([]error, 2)
		var ranks sync.WaitGroup
		for rank, device := range []InitOption{overRDMA(), x.lame} {
			ranks.Go(func() {
				_, errs[rank] = Init(t.Context(), WithRank(rank, 2), WithStore(store), WithTransport("rdma"), device)
			})
		}
		ranks.Wait()
		var peer *PeerError
		if !errors.As(errs[0], &peer) || peer.Rank != 1 || !strings.Contains(errs[0].Error(), x.text) {
			t.Errorf("rank 0: %v, want %q", errs[0], x.text)
		}
		if err := errs[1]; err == nil || errors.Is(err, ErrInvalidArgument) != x.refused || !strings.Contains(err.Error(), x.text) {
			t.Errorf("rank 1: %v, want %q", err, x.text)
		}
	}
}

// TestThreeWays has ranks on two hosts share memory, use RDMA, and TCP to the one that has no device: they are one
// communicator, and what they compute has the bits of a communicator over TCP.
func TestThreeWays(t *testing.T) {
	const size, count = 5, 200_003
	results := map[string][]float32{}
	for name, opts := range map[string][]InitOption{
		"three ways": {oddAndEven, overRDMA(), deviceless(4)},
		"rdma":       {WithTransport("rdma"), overRDMA()},
		"tcp":        {WithTransport("tcp")},
	} {
		all := initComms(t, size, opts...)
		if links := all[1].Topology().Links; name == "three ways" && !slices.Equal(links, []string{"rdma", "self", "rdma", "shm", "tcp"}) {
			t.Errorf("rank 1 has the links %v", links)
		}
		var got []float32
		if err := errors.Join(fasttest.OnAll(all, func(c *Comm) error {
			buf, err := Alloc[float32](t.Context(), c, count)
			if err != nil {
				return err
			}
			for i := range buf {
				buf[i] = 1 / float32(i%1000+c.Rank()+1)
			}
			for _, algorithm := range []string{"ring", "one-shot", "tree"} {
				if err := AllReduce(t.Context(), c, buf, Sum, WithAlgorithm(algorithm)); err != nil {
					return err
				}
			}
			if c.Rank() == 1 {
				got = slices.Clone(buf)
			}
			return Free(c, buf)
		})...); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		results[name] = got
	}
	for name, got := range results {
		if !slices.Equal(got, results["tcp"]) {
			t.Errorf("%s: the sums are not those over TCP", name)
		}
	}
}

// TestNoRDMA: data over RDMA alone cannot be encrypted; a process without a device uses TCP where it may; all have to
// say the same.
func TestNoRDMA(t *testing.T) {
	encrypted := []InitOption{WithRank(0, 2), WithStore(NewMemoryStore()), WithTransport("rdma"), WithEncryption()}
	if _, err := Init(t.Context(), encrypted...); !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), "cannot be encrypted") {
		t.Errorf("encrypted: %v", err)
	}
	all := initComms(t, 2, oddAndEven, overRDMA(), deviceless(1))
	if got := all[0].Topology(); got.Transport != "tcp" || got.Links[1] != "tcp" {
		t.Errorf("one rank without a device: %v", got)
	}
	if vm.Inside() {
		return // the ranks' devices would be real ones
	}
	store, simulated := NewMemoryStore(), overRDMA()
	errs := make(chan error, 2)
	for rank, name := range []string{"rdma", ""} {
		go func() {
			_, err := Init(t.Context(), WithRank(rank, 2), WithStore(store), WithTransport(name), simulated)
			errs <- err
		}()
	}
	for range 2 {
		if err := <-errs; err == nil || !strings.Contains(err.Error(), "use RDMA alone") {
			t.Errorf("only one says rdma: %v", err)
		}
	}
}

// TestUnaskedRDMA: where RDMA is not asked for, or may not be used, nobody looks for a device.
func TestUnaskedRDMA(t *testing.T) {
	for name, c := range map[string]struct {
		opts []InitOption
		want int // how often each rank looks
	}{
		"unasked":   {nil, 0},
		"tcp":       {[]InitOption{WithTransport("tcp"), WithRDMADevice("any")}, 0},
		"encrypted": {[]InitOption{WithEncryption(), WithRDMADevice("any")}, 0},
		"any":       {[]InitOption{WithRDMADevice("any")}, 1},
	} {
		var looks atomic.Int32
		looking := func(p *initConfig) {
			p.OpenRDMA = func(context.Context, int) ([]rdma.Domain, error) {
				looks.Add(1)
				return nil, errors.New("this host has no RDMA device")
			}
		}
		all := initComms(t, 2, append(c.opts, oddAndEven, looking)...)
		if got := all[0].Topology().Links[1]; got != "tcp" || int(looks.Load()) != 2*c.want {
			t.Errorf("%s: %d looks for a device, and the link is %s", name, looks.Load(), got)
		}
	}
}

// TestSendAndClose: over RDMA, what a rank has sent comes, however soon it closes after that, and however late the
// other one calls for it.
func TestSendAndClose(t *testing.T) {
	for range 8 {
		all := rdmaWorld.Comms(t, 2)
		from, to := []int32{7}, []int32{0}
		if err := Broadcast(t.Context(), all[0], from, 0); err != nil {
			t.Fatal(err)
		}
		if err := all[0].Close(); err != nil {
			t.Error(err)
		}
		if err := Broadcast(t.Context(), all[1], to, 0); err != nil || to[0] != 7 {
			t.Fatal(to, err)
		}
		if err := all[1].Close(); err != nil {
			t.Error(err)
		}
	}
}
