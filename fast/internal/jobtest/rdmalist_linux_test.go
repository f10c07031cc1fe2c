//go:build linux && cgo && !netgo

package jobtest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/verbs"
	"github.com/collgen/collgen/fast/internal/verbs/fake"
)

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
