package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// affinity returns which processors this process may run on.
func affinity() []Finding {
	allowed, err := ownStatus("Cpus_allowed_list")
	if err != nil {
		return []Finding{unknown("affinity", err)}
	}
	text := allowed
	if online, err := os.ReadFile("/sys/devices/system/cpu/online"); err == nil {
		text += " of " + strings.TrimSpace(string(online))
	}
	return []Finding{{Name: "affinity", Value: allowed, Text: text}}
}

// ownStatus returns a line of this process's status.
func ownStatus(name string) (string, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", err
	}
	for line := range bytes.Lines(status) {
		if value, found := bytes.CutPrefix(line, []byte(name+":")); found {
			return string(bytes.TrimSpace(value)), nil
		}
	}
	return "", errors.New("/proc/self/status has no " + name)
}

// sharedMemory returns whether ranks of one host can share the memory of a memfd. They do not use /dev/shm, which other
// libraries use and which is small in containers.
func sharedMemory() []Finding {
	memfd := Finding{Name: "memfd", Value: true, Text: "works"}
	if err := tryMemfd(); err != nil {
		memfd = Finding{Name: "memfd", Value: false, Text: "refused",
			Warning: "ranks of one host cannot share memory: " + err.Error()}
	}
	return []Finding{memfd, devShm()}
}

// tryMemfd makes shared memory in the way ranks do.
func tryMemfd() error {
	fd, err := unix.MemfdCreate("collrun-doctor", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return fmt.Errorf("memfd_create: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, 1<<16); err != nil {
		return fmt.Errorf("ftruncate: %w", err)
	}
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return fmt.Errorf("sealing: %w", err)
	}
	m, err := unix.Mmap(fd, 0, 1<<16, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	return unix.Munmap(m)
}

// space is the size of a file system, in bytes.
type space struct {
	Size uint64 `json:"size"`
	Free uint64 `json:"free"`
}

func devShm() Finding {
	var s unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &s); err != nil {
		return Finding{Name: "/dev/shm", Text: "there is none; it is not used"}
	}
	v := space{s.Blocks * uint64(s.Bsize), s.Bavail * uint64(s.Bsize)}
	return Finding{Name: "/dev/shm", Value: v,
		Text: fmt.Sprintf("%d MiB, %d MiB of them free; it is not used", v.Size>>20, v.Free>>20)}
}
