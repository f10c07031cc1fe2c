package verify_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// In the machine with two RDMA devices (make test-rdma), processes talk over these as well: over nothing else, and over
// RDMA, shared memory and TCP in one communicator.
func init() {
	if !hasRDMA() {
		return
	}
	transports = append(transports,
		transport{"rdma", 4, func(process int) []string {
			return []string{"COLL_TRANSPORT=rdma", "COLL_RDMA=" + rdmaDevice(process)}
		}, everywhere("rdma"), oneHost},
		transport{"three ways", 4, threeWays, byHostAndDevice, pretendedHost})
}

// hasRDMA reports whether this process runs in that machine.
func hasRDMA() bool { return os.Getenv("COLLGEN_VM") != "" }

// rdmaDevice has processes use both devices. An emulated machine may stand still for long, and soft-RoCE does not
// survive many repeats.
func rdmaDevice(process int) string { return fmt.Sprintf("rxe%d,timeout=500ms", process%2) }

// deviceless is the process that is not told of a device.
const deviceless = 3

func threeWays(process int) []string {
	env := []string{"COLL_HOST=" + pretendedHost(process)}
	if process != deviceless {
		env = append(env, "COLL_RDMA="+rdmaDevice(process))
	}
	return env
}

func byHostAndDevice(process, peer int) string {
	link := byHost(process, peer)
	if link == "tcp" && process != deviceless && peer != deviceless {
		return "rdma"
	}
	return link
}

// TestConformOverRDMA is TestConform with ranks on both devices; with -short there are three, and few types, since RDMA
// moves bytes.
func TestConformOverRDMA(t *testing.T) {
	if !hasRDMA() {
		t.Skip("it needs a machine with RDMA devices: make test-rdma")
	}
	sizes, types := []int{2, 3, 4}, spec.Types()
	if testing.Short() {
		sizes, types = []int{3}, []spec.Type{spec.TypeFloat32, spec.TypeInt8, spec.TypeBool}
	}
	colltest.Run(t, conform{sizes, types, runOverRDMA})
}

// runOverRDMA is fast.Run with ranks that use RDMA alone.
func runOverRDMA(ctx context.Context, size int, rank func(ctx context.Context, c *fast.Comm) error,
	opts ...fast.InitOption) error {
	store, errs := fast.NewMemoryStore(), make([]error, size)
	var ranks sync.WaitGroup
	for r := range size {
		ranks.Go(func() {
			c, err := fast.Init(ctx, append(opts[:len(opts):len(opts)], fast.WithRank(r, size), fast.WithStore(store),
				fast.WithTransport("rdma"), fast.WithRDMADevice(rdmaDevice(r)))...)
			if err == nil {
				err = errors.Join(rank(ctx, c), c.Close())
			}
			errs[r] = err
		})
	}
	ranks.Wait()
	return errors.Join(errs...)
}
