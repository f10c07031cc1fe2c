//go:build linux && cgo && !netgo

package device_test

import (
	"testing"

	"github.com/collgen/collgen/fast/internal/rdma/device"
	"github.com/collgen/collgen/fast/internal/verbs/fake"
)

// TestSettings: what is asked for, or chosen, is what queue pairs are given, and what is told of a port; and that can
// be asked for.
func TestSettings(t *testing.T) {
	withLibrary(t, func(folder string) {
		d := fake.Add(t, folder, "a0")
		for asked, want := range map[string][2]string{
			"any": {"a0:1,gid=10.9.0.1,gid=v2,mtu=4096,tc=0,sl=0,pkey=0,retry=5,timeout=67.108864ms",
				"mtu 5, gid 0, tc 0, sl 0, pkey 0, retry 5, timeout 14"},
			"a0,gid=v2,mtu=1024,tc=104,sl=3,pkey=2,retry=4,timeout=1ms": {
				"a0:1,gid=10.9.0.1,gid=v2,mtu=1024,tc=104,sl=3,pkey=2,retry=4,timeout=1.048576ms",
				"mtu 3, gid 0, tc 104, sl 3, pkey 2, retry 4, timeout 8"},
		} {
			for _, text := range []string{asked, want[0]} {
				o, err := device.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				found, _, err := device.Find(t.Context(), o)
				if err != nil || len(found) != 1 || found[0].Settings != want[0] {
					t.Errorf("%s: got %+v, %v, want %s", text, found, err, want[0])
				}
				if got := d.Connected(); got != want[1] {
					t.Errorf("%s: a queue pair has %s, want %s", text, got, want[1])
				}
			}
		}
	})
}
