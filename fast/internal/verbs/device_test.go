//go:build linux && cgo && !netgo

package verbs

import (
	"errors"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

func TestDevices(t *testing.T) {
	vm.Need(t)
	devices, err := Devices()
	if err != nil || !slices.Equal(devices, []Device{{"rxe0", ChannelAdapter}, {"rxe1", ChannelAdapter}}) {
		t.Fatalf("got %v, %v", devices, err)
	}
	for _, nic := range vm.NICs {
		e := newEnd(t, nic, 1)
		a, err := e.context.Attributes()
		if err != nil || a.Ports != 1 || a.MaxCQE < 1000 || a.MaxQPWR < 1000 || a.MaxMRSize < 1<<30 {
			t.Errorf("%+v, %v", a, err)
		}
		p := e.port
		if p.State != PortActive || p.MTU.Bytes() != 4096 || p.Link != Ethernet || p.MaxMessage != 8<<20 {
			t.Errorf("%+v", p)
		}
		if e.gid.Interface != nic.Interface || e.gid.Index == 0 {
			t.Errorf("%+v", e.gid)
		}
		t.Logf("%+v, %+v, %v", a, p, e.gid)
	}
	if _, err := Open("none", nil); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a device that there is not: %v", err)
	}
}

// TestUnavailable is for machines without RDMA devices.
func TestUnavailable(t *testing.T) {
	devices, err := Devices()
	if err == nil {
		t.Skipf("there are devices: %v", devices)
	}
	if !errors.Is(err, ErrUnavailable) || len(err.Error()) <= len(ErrUnavailable.Error())+2 {
		t.Errorf("got %v", err)
	}
	if _, err := Open("rxe0", nil); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}
