package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// rdmaPorts are the ports of the RDMA devices here, as the kernel shows them.
func rdmaPorts() []finding {
	var libraries []string
	for _, dir := range []string{"/usr/lib", "/usr/lib64", "/usr/lib/*-linux-gnu*", "/usr/local/lib"} {
		found, _ := filepath.Glob(dir + "/libibverbs.so.1") // the pattern is right
		libraries = append(libraries, found...)
	}
	var limit unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit) // lockedMemory says why it cannot
	return describeRDMA(os.DirFS("/sys/class"), openVerbs, len(libraries) > 0, limit.Cur)
}

// openVerbs tries whether this process may open a device by the file of this name.
func openVerbs(name string) error {
	f, err := os.OpenFile("/dev/infiniband/"+name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// littleLocked is less than a rank registers with a hundred others, half a MiB for each.
const littleLocked = 64 << 20

// describeRDMA tells of the ports in the kernel's folders of devices, and what is missing to use them. Those count that are active, and
// whose devices can be opened.
func describeRDMA(sys fs.FS, open func(name string) error, library bool, locked uint64) (found []finding) {
	ports, _ := fs.Glob(sys, "infiniband/*/ports/*") // the pattern is right
	usable := 0
	for _, port := range ports {
		device := path.Base(path.Dir(path.Dir(port)))
		state := wordOf(sys, port, "state")
		f := finding{Name: "rdma " + device + ":" + path.Base(port), Value: state, Text: describePort(sys, port)}
		if err := openable(sys, device, open); err != nil {
			f.Warning = "its device cannot be opened: " + err.Error()
		} else if strings.HasPrefix(state, "4:") { // active
			usable++
		}
		found = append(found, f)
	}
	f := finding{Name: "rdma", Value: usable, Text: fmt.Sprintf("%d of %d ports can be used, by ranks that ask for it (COLL_RDMA=any)",
		usable, len(ports))}
	switch {
	case len(ports) == 0:
		f.Text = "no device: ranks on several hosts talk over TCP"
	case !library:
		f.Warning = "there is no libibverbs.so.1, which devices need: on Debian it comes with ibverbs-providers"
	case locked < littleLocked:
		f.Warning = fmt.Sprintf("devices lock the memory that they use, and only %d KiB may be locked: ulimit -l, "+
			"/etc/security/limits.conf, or LimitMEMLOCK= of a systemd unit", locked>>10)
	}
	return append([]finding{f}, found...)
}

// openable says why a device cannot be opened, if it cannot.
func openable(sys fs.FS, device string, open func(name string) error) error {
	files, _ := fs.Glob(sys, "infiniband_verbs/*/ibdev") // the pattern is right
	for _, file := range files {
		if wordOf(sys, file) == device {
			return open(path.Base(path.Dir(file)))
		}
	}
	return errors.New("the kernel's module ib_uverbs has none of its name")
}

// describePort is the state of a port, its network, and its addresses.
func describePort(sys fs.FS, port string) string {
	_, state, _ := strings.Cut(wordOf(sys, port, "state"), ": ") // as "4: ACTIVE"
	words := []string{strings.ToLower(state), wordOf(sys, port, "link_layer"), wordOf(sys, port, "rate")}
	if wordOf(sys, port, "link_layer") != "Ethernet" {
		words = append(words, "LID "+wordOf(sys, port, "lid"))
	}
	gids, _ := fs.Glob(sys, port+"/gids/*") // the pattern is right
	for _, gid := range gids {
		address, err := netip.ParseAddr(wordOf(sys, gid))
		if err != nil || address == netip.IPv6Unspecified() {
			continue
		}
		index := path.Base(gid)
		words = append(words, strings.TrimSpace(fmt.Sprintf("GID %s %s %s %s", index, address.Unmap(),
			wordOf(sys, port, "gid_attrs/types", index), wordOf(sys, port, "gid_attrs/ndevs", index))))
	}
	return strings.Join(words, ", ")
}

// wordOf is what a file of the kernel's contains; nothing if it cannot be read.
func wordOf(sys fs.FS, elem ...string) string {
	text, _ := fs.ReadFile(sys, path.Join(elem...))
	return strings.TrimSpace(string(text))
}
