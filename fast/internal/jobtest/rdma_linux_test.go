//go:build cgo && !netgo

package jobtest

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/verbs"
	"github.com/collgen/collgen/fast/internal/verbs/fake"
)

// TestCheckRDMA has a host with two devices, of which one cannot be used: the other one is, and a rank that asks for
// any device logs why it is not the first. A rank that asks for that one is told the same, as an error where nothing
// else may be used.
func TestCheckRDMA(t *testing.T) {
	fake.Run(t, func(devices string) {
		verbs.Kernel = devices
		fake.Add(t, devices, "a0").Set("status", "12")
		fake.Add(t, devices, "b0")
		const why = "a0:1: a write to itself: RDMA device a0: the peer does not answer"
		if ports, err := fast.CheckRDMA(t.Context(), "any"); err != nil ||
			!slices.Equal(ports, []string{"b0:1,gid=10.9.0.1,gid=v2,mtu=4096,tc=0,sl=0,pkey=0,retry=5,timeout=67.108864ms"}) {
			t.Errorf("%v, %v", ports, err)
		}
		if ports, err := fast.CheckRDMA(t.Context(), "a0"); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, %v", ports, err)
		}
		if _, err := fast.CheckRDMA(t.Context(), "a0,mtu=7"); !errors.Is(err, fast.ErrInvalidArgument) {
			t.Errorf("what cannot be: %v", err)
		}
		var log bytes.Buffer
		alone := func(device string) error {
			c, err := fast.Init(t.Context(), fast.WithRank(0, 1), fast.WithStore(fast.NewMemoryStore()),
				fast.WithTransport("rdma"), fast.WithRDMADevice(device),
				fast.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			if err == nil {
				err = c.Close()
			}
			return err
		}
		if err := alone("any"); err != nil || !strings.Contains(log.String(), why) {
			t.Errorf("%v, and the log has %s", err, &log)
		}
		if err := alone("a0"); err == nil || !strings.Contains(err.Error(), "this process cannot use RDMA: ") ||
			!strings.Contains(err.Error(), why) {
			t.Errorf("got %v", err)
		}
	})
}

// TestListOfDevices: the ports that are used come in the order in which they were asked for. Each has to be there, and
// none twice.
func TestListOfDevices(t *testing.T) {
	fake.Run(t, func(folder string) {
		verbs.Kernel = folder
		fake.Add(t, folder, "a0").Port(2, "4: ACTIVE")
		fake.Add(t, folder, "b0")
		fake.Add(t, folder, "c0").Set("ports/1/state", "1: DOWN")
		for devices, want := range map[string][]string{
			"any":           {"a0:1"},
			"b0":            {"b0:1"},
			"b0;a0,mtu=512": {"b0:1", "a0:1"},
			"a0:2; a0:1":    {"a0:2", "a0:1"},
			"all":           {"a0:1", "a0:2", "b0:1"},
		} {
			got, err := fast.CheckRDMA(t.Context(), devices)
			for i := range got {
				got[i], _, _ = strings.Cut(got[i], ",gid=")
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%q: got %v, %v, want %v", devices, got, err, want)
			}
		}
		for devices, want := range map[string]string{
			"a0;c0":      "c0:1: the port is down",
			"a0;none":    "none is none",
			"a0;a0":      "port 1 of a0 twice",
			"b0;any;all": "port 1 of a0 twice",
			"a0;":        "port 1 of a0 twice",
			"a0;b0,x=1":  `there is no setting "x"`,
		} {
			got, err := fast.CheckRDMA(t.Context(), devices)
			refused := strings.Contains(want, "twice") || strings.Contains(want, "setting")
			if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, fast.ErrInvalidArgument) != refused {
				t.Errorf("%q: got %v, %v, want %q", devices, got, err, want)
			}
		}
	})
}
