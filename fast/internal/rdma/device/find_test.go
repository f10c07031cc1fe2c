//go:build linux && cgo && !netgo

package device_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma/device"
	"github.com/collgen/collgen/fast/internal/verbs"
	"github.com/collgen/collgen/fast/internal/verbs/fake"
)

// withLibrary runs the rest of the test, f, in a process with a library whose devices are in the folder.
func withLibrary(t *testing.T, f func(folder string)) {
	t.Helper()
	fake.Run(t, func(folder string) {
		verbs.Kernel = folder
		f(folder)
	})
}

// quick has drivers that hang be given up soon. Nothing else takes as long.
const quick = 400 * time.Millisecond

// faults are what can be wrong with the only port of a device: its files, and the reason that is told.
var faults = []struct{ file, text, want string }{
	{"ports/1/state", "1: DOWN", "bad0:1: the port is down"},
	{"node_type", "4: RNIC", "RDMA device bad0 is an adapter of iWARP, not an adapter of InfiniBand or RoCE"},
	{"node_type", "7: Unspecified", "bad0 is an adapter of its vendor's own kind, as Amazon's EFA, not"},
	{"node_type", "2: switch", "bad0 is a switch, not"},
	{"open", "13", "RDMA device bad0: open it: permission denied"},
	{"open", "hang", "to open bad0: its driver hangs: it has done nothing for 400ms"},
	{"query_port", "5", "bad0: ask for its port: input/output error"},
	{"ports/1/gids/0", "0000:0000:0000:0000:0000:0000:0000:0000", "bad0:1: no GID has an address at all"},
	{"max_cqe", "10", "bad0:1: one of its completion queues holds 10 completions, and connections to so many " +
		"ranks may have "},
	{"create_cq", "12", "bad0: create a completion queue: cannot allocate memory"},
	{"reg_mr", "12", "RLIMIT_MEMLOCK"},
	{"create_qp", "12", "bad0: create a queue pair: cannot allocate memory"},
	{"create_qp", "hang", "to try port 1 of bad0: its driver hangs"},
	{"modify_qp", "110", "bad0: give a queue pair a port: connection timed out"},
	{"status", "12", "bad0:1: a write to itself: RDMA device bad0: the peer does not answer (status 12"},
	{"status", "lost", "bad0:1: a write to itself: it does not arrive: not in 200ms"},
}

// TestFind has a device that cannot be used before one that can: that one is found, and the reason is told why it is
// not the other. Where there is no other, it is the error.
func TestFind(t *testing.T) {
	withLibrary(t, func(folder string) {
		for _, x := range faults {
			bad := fake.Add(t, folder, "bad0")
			bad.Set(x.file, x.text)
			check := func(err error) {
				t.Helper()
				if err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s is %q: got %v, want %q", x.file, x.text, err, x.want)
				}
			}
			if _, _, err := find(t, x.text); !errors.Is(err, verbs.ErrUnavailable) {
				t.Errorf("%s is %q: %v", x.file, x.text, err)
			} else {
				check(err)
			}
			good := fake.Add(t, folder, "good0")
			found, refused, err := find(t, x.text)
			if err != nil || len(found) != 1 || found[0].Device != "good0" || found[0].Port != 1 {
				t.Fatalf("%s is %q: %v, %v", x.file, x.text, found, err)
			}
			check(errors.Join(refused...))
			d, err := device.Open(t.Context(), found[0])
			if err == nil {
				err = d.Close()
			}
			if err != nil {
				t.Error(err)
			}
			bad.Set(x.file, "1: no more")
			for _, d := range []fake.Device{bad, good} {
				d.Remove()
			}
		}
	})
}

// find is device.Find. Where nothing hangs because it was told to, it is called again while a driver seems to, because
// the processor was busy.
func find(t *testing.T, told string) (found []device.Options, refused []error, err error) {
	for {
		found, refused, err = device.Find(t.Context(), device.Options{Limit: quick})
		if told == "hang" || !strings.Contains(fmt.Sprint(refused, err), "its driver hangs") {
			return found, refused, err
		}
	}
}

// TestFindAll has all ports that can be used, of all devices; and all reasons where none can.
func TestFindAll(t *testing.T) {
	withLibrary(t, func(folder string) {
		var devices []fake.Device
		for _, name := range []string{"a0", "b0", "c0"} {
			devices = append(devices, fake.Add(t, folder, name))
		}
		devices[0].Port(2, "4: ACTIVE")
		devices[1].Set("open", "13")
		devices[2].Port(2, "1: DOWN")
		found, refused, err := device.Find(t.Context(), device.Options{All: true, Traffic: 7})
		var got []device.Options
		for _, o := range found {
			got = append(got, device.Options{Device: o.Device, Port: o.Port, All: o.All, Traffic: o.Traffic})
		}
		want := []device.Options{{Device: "a0", Port: 1, All: true, Traffic: 7}, {Device: "a0", Port: 2, All: true,
			Traffic: 7}, {Device: "c0", Port: 1, All: true, Traffic: 7}}
		if err != nil || !slices.Equal(got, want) || len(refused) != 2 {
			t.Errorf("%+v, %v, %v", found, refused, err)
		}
		for _, d := range devices {
			d.Set("node_type", "4: RNIC")
		}
		_, refused, err = device.Find(t.Context(), device.Options{})
		if len(refused) != 3 || strings.Count(err.Error(), "is an adapter of iWARP") != 3 {
			t.Errorf("%v, %v", refused, err)
		}
	})
}

// TestNothingLeft: trying leaves no file open, whether it succeeds or fails; what a driver that has hung gives in the
// end is closed.
func TestNothingLeft(t *testing.T) {
	withLibrary(t, func(folder string) {
		d := fake.Add(t, folder, "a0")
		find := func() error {
			_, _, err := device.Find(t.Context(), device.Options{Limit: quick})
			return err
		}
		if err := find(); err != nil {
			t.Fatal(err)
		}
		before := fake.Files(t)
		d.Set("create_qp", "12")
		if err := find(); !errors.Is(err, syscall.ENOMEM) || fake.Files(t) != before {
			t.Errorf("%v, and %d files are left", err, fake.Files(t)-before)
		}
		d.Set("create_qp", "0")
		for _, call := range []string{"open", "create_cq"} {
			d.Set(call, "hang")
			if domain, err := device.Open(t.Context(), device.Options{Device: "a0", Port: 1, Completions: 1,
				Limit: quick}); err == nil ||
				!strings.Contains(err.Error(), "to open port 1 of a0: its driver hangs") {
				t.Fatalf("%s: %v, %v", call, domain, err)
			}
			d.Set(call, "0")
			for fake.Files(t) != before { // as soon as the driver goes on
				time.Sleep(time.Millisecond)
			}
		}
	})
}

// TestTold has communicators on two ports: the end of a port is that of those on it alone, the end of a completion
// queue of the one that has it, that of the device everybody's.
func TestTold(t *testing.T) {
	withLibrary(t, func(folder string) {
		d := fake.Add(t, folder, "a0")
		d.Port(2, "4: ACTIVE")
		open := func(port int) func() error {
			domain, err := device.Open(t.Context(), device.Options{Device: "a0", Port: port, Completions: 1})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := domain.Close(); err != nil {
					t.Error(err)
				}
			})
			return func() error {
				_, err := domain.Poll(nil, false)
				return err
			}
		}
		until := func(poll func() error, want string) {
			t.Helper()
			for {
				if err := poll(); err != nil {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("got %v, want %q", err, want)
					}
					return
				}
				time.Sleep(time.Millisecond)
			}
		}
		one, same, two, overrun := open(1), open(1), open(2), open(2)
		d.Tell(byte(verbs.EventCQError), 3)
		until(overrun, "RDMA device a0: a completion queue overran")
		if err := errors.Join(one(), same(), two()); err != nil {
			t.Errorf("the other completion queues: %v", err)
		}
		d.Tell(byte(verbs.EventPortError), 1)
		until(one, "a0, port 1: the port is down")
		until(same, "a0, port 1: the port is down")
		if err := two(); err != nil {
			t.Errorf("the other port: %v", err)
		}
		d.Tell(byte(verbs.EventDeviceFatal), 0)
		until(two, "a0: the device failed")
	})
}
