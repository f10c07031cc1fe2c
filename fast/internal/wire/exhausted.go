package wire

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
)

// exhausted are the errors of a system call for which this process has, or its host, no descriptors or memory left.
var exhausted = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ETOOMANYREFS}

// Exhausted returns err, and ErrExhausted too if it says that this process has no descriptors or memory left.
func Exhausted(err error) error {
	if errors.Is(err, ErrExhausted) || !slices.ContainsFunc(exhausted, func(e syscall.Errno) bool { return errors.Is(err, e) }) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrExhausted, err)
}
