//go:build unix

package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
)

// taken: this process has used its PMI_FD. After that the number may be that of anything else.
var taken atomic.Bool

// OpenPMI returns the store of the launcher that has set PMI_FD; getenv is os.Getenv. A process can use it once, and
// only if no MPI library does.
func OpenPMI(ctx context.Context, getenv func(string) string, rank int) (*KVS, error) {
	fd, err := strconv.Atoi(getenv("PMI_FD"))
	if err != nil || fd < 0 {
		return nil, fmt.Errorf("PMI_FD is %q, want the number of a descriptor", getenv("PMI_FD"))
	}
	var s syscall.Stat_t
	if err := syscall.Fstat(fd, &s); err != nil || s.Mode&syscall.S_IFMT != syscall.S_IFSOCK {
		return nil, fmt.Errorf("PMI_FD is %d, which is not an open socket: the launcher did not start this process itself",
			fd)
	}
	if taken.Swap(true) {
		return nil, errors.New("PMI_FD was used by this process before: give WithStore, or COLL_STORE, for another Init")
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil { // or there would be no deadlines
		return nil, fmt.Errorf("PMI_FD: %w", err)
	}
	return newKVS(ctx, os.NewFile(uintptr(fd), "PMI_FD"), rank)
}
