package doctor

import (
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// rdmaPorts returns the ports of RDMA devices, as the kernel lists them.
func rdmaPorts() []Finding {
	var limit unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit) // lockedMemory reports the error
	return describeRDMA(os.DirFS("/sys/class/infiniband"), checkRDMA, limit.Cur)
}

// littleLocked is less than a rank registers for a hundred others, at half a MiB each.
const littleLocked = 64 << 20

// describeRDMA describes the ports in the kernel's folder of devices. It tries active ones as ranks do, and counts
// those that can be used.
func describeRDMA(sys fs.FS, check func(port string) ([]string, error), locked uint64) (found []Finding) {
	folders, _ := fs.Glob(sys, "*/ports/*") // the pattern is right
	usable, active := 0, 0
	for _, folder := range folders {
		port := path.Dir(path.Dir(folder)) + ":" + path.Base(folder)
		f := Finding{Name: "rdma " + port, Value: wordOf(sys, folder, "state"), Text: describePort(sys, folder)}
		if strings.HasPrefix(wordOf(sys, folder, "state"), "4:") {
			active++
			if used, err := check(port); err != nil {
				f.Warning = err.Error()
			} else {
				f.Text += "; used as " + strings.Join(used, ";")
				usable++
			}
		}
		found = append(found, f)
	}
	f := Finding{Name: "rdma", Value: usable,
		Text: fmt.Sprintf("%d of %d ports can be used, by ranks that ask for it (COLL_RDMA=any)",
			usable, len(folders))}
	switch {
	case len(folders) == 0:
		f.Text = "no device: ranks on several hosts talk over TCP"
	case active > 0 && locked < littleLocked:
		f.Warning = fmt.Sprintf("devices lock the memory that they use, and a process may lock %d KiB, its RLIMIT_MEMLOCK: "+
			"raise it with "+
			"ulimit -l, in /etc/security/limits.conf, or with LimitMEMLOCK= of its systemd unit", locked>>10)
	}
	return append([]Finding{f}, found...)
}

// describePort returns the state of a port, its network, and its addresses.
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

// wordOf returns the text of a file of the kernel; "" if it cannot be read.
func wordOf(sys fs.FS, elem ...string) string {
	text, _ := fs.ReadFile(sys, path.Join(elem...))
	return strings.TrimSpace(string(text))
}
