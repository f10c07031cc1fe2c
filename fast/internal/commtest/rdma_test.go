package commtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/bootstrap"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

// TestForcedRDMA: of two ranks that may use nothing else, one has no device, or is told of none that there is. It says
// so, and the other one hears it.
func TestForcedRDMA(t *testing.T) {
	for _, x := range []struct {
		lame    fast.InitOption
		text    string
		refused bool
	}{
		{deviceless(1), "cannot use RDMA: this host has no RDMA device", false},
		{fast.WithRDMADevice("mlx5_0,is=fast"), `there is no setting "is"`, true},
	} {
		store, errs := fast.NewMemoryStore(), make([]error, 2)
		var ranks sync.WaitGroup
		for rank, device := range []fast.InitOption{withDevices(), x.lame} {
			ranks.Go(func() {
				_, errs[rank] = fast.Init(t.Context(), fast.WithRank(rank, 2), fast.WithStore(store), fast.WithTransport("rdma"),
					device)
			})
		}
		ranks.Wait()
		var peer *fast.PeerError
		if !errors.As(errs[0], &peer) || peer.Rank != 1 || !strings.Contains(errs[0].Error(), x.text) {
			t.Errorf("rank 0: %v, want %q", errs[0], x.text)
		}
		if err := errs[1]; err == nil || errors.Is(err, fast.ErrInvalidArgument) != x.refused ||
			!strings.Contains(err.Error(), x.text) {
			t.Errorf("rank 1: %v, want %q", err, x.text)
		}
	}
}

// TestThreeWays has ranks on two hosts share memory, use RDMA, and TCP to the one that has no device: they are one
// communicator, and what they compute has the bits of a communicator over TCP.
func TestThreeWays(t *testing.T) {
	const size, count = 5, 200_003
	results := map[string][]float32{}
	for name, opts := range map[string][]fast.InitOption{
		"three ways": {oddAndEven(), withDevices(), deviceless(4)},
		"rdma":       {fast.WithTransport("rdma"), withDevices()},
		"tcp":        {fast.WithTransport("tcp")},
	} {
		all := initComms(t, size, opts...)
		if links := all[1].Topology().Links; name == "three ways" &&
			!slices.Equal(links, []string{"rdma", "self", "rdma", "shm", "tcp"}) {
			t.Errorf("rank 1 has the links %v", links)
		}
		var got []float32
		if err := errors.Join(fasttest.OnAll(all, func(c *fast.Comm) error {
			buf, err := fast.Alloc[float32](t.Context(), c, count)
			if err != nil {
				return err
			}
			for i := range buf {
				buf[i] = 1 / float32(i%1000+c.Rank()+1)
			}
			for _, algorithm := range []string{"ring", "one-shot", "tree"} {
				if err := fast.AllReduce(t.Context(), c, buf, fast.Sum, fast.WithAlgorithm(algorithm)); err != nil {
					return err
				}
			}
			if c.Rank() == 1 {
				got = slices.Clone(buf)
			}
			return fast.Free(c, buf)
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
	encrypted := []fast.InitOption{fast.WithRank(0, 2), fast.WithStore(fast.NewMemoryStore()), fast.WithTransport("rdma"),
		fast.WithEncryption()}
	if _, err := fast.Init(t.Context(), encrypted...); !errors.Is(err, fast.ErrInvalidArgument) ||
		!strings.Contains(err.Error(), "cannot be encrypted") {
		t.Errorf("encrypted: %v", err)
	}
	all := initComms(t, 2, oddAndEven(), withDevices(), deviceless(1))
	if got := all[0].Topology(); got.Transport != "tcp" || got.Links[1] != "tcp" {
		t.Errorf("one rank without a device: %v", got)
	}
	if vm.Inside() {
		return // the ranks' devices would be real ones
	}
	store, simulated := fast.NewMemoryStore(), withDevices()
	errs := make(chan error, 2)
	for rank, name := range []string{"rdma", ""} {
		go func() {
			_, err := fast.Init(t.Context(), fast.WithRank(rank, 2), fast.WithStore(store), fast.WithTransport(name), simulated)
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
		opts []fast.InitOption
		want int // how often each rank looks
	}{
		"unasked":   {nil, 0},
		"tcp":       {[]fast.InitOption{fast.WithTransport("tcp"), fast.WithRDMADevice("any")}, 0},
		"encrypted": {[]fast.InitOption{fast.WithEncryption(), fast.WithRDMADevice("any")}, 0},
		"any":       {[]fast.InitOption{fast.WithRDMADevice("any")}, 1},
	} {
		var looks atomic.Int32
		looking := fasttest.Option[fast.InitOption](func(p *bootstrap.Config) {
			p.OpenRDMA = func(context.Context, int) ([]rdma.Domain, error) {
				looks.Add(1)
				return nil, errors.New("this host has no RDMA device")
			}
		})
		all := initComms(t, 2, append(c.opts, oddAndEven(), looking)...)
		if got := all[0].Topology().Links[1]; got != "tcp" || int(looks.Load()) != 2*c.want {
			t.Errorf("%s: %d looks for a device, and the link is %s", name, looks.Load(), got)
		}
	}
}

// TestSendAndClose: over RDMA, what a rank has sent comes, however soon it closes after that, and however late the
// other one calls for it.
func TestSendAndClose(t *testing.T) {
	for range 8 {
		all := fasttest.OverRDMA(fast.Init).Comms(t, 2)
		from, to := []int32{7}, []int32{0}
		if err := fast.Broadcast(t.Context(), all[0], from, 0); err != nil {
			t.Fatal(err)
		}
		if err := all[0].Close(); err != nil {
			t.Error(err)
		}
		if err := fast.Broadcast(t.Context(), all[1], to, 0); err != nil || to[0] != 7 {
			t.Fatal(to, err)
		}
		if err := all[1].Close(); err != nil {
			t.Error(err)
		}
	}
}
