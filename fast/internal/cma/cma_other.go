//go:build !linux

package cma

import "errors"

// Reader reads nothing on this system.
type Reader struct{ word uint64 }

func (*Reader) read(int, []byte, uintptr, uintptr) (got, want int, err error) {
	return 0, 0, errors.ErrUnsupported
}
