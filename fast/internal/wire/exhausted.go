package wire

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
)

// exhausted are the errors of system calls that fail because this process or its host has no descriptors or memory
// left.
var exhausted = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ETOOMANYREFS}

// Exhausted returns err, wrapped in ErrExhausted if it is one of exhausted.
func Exhausted(err error) error {
	if errors.Is(err, ErrExhausted) || !slices.ContainsFunc(exhausted,
		func(e syscall.Errno) bool { return errors.Is(err, e) }) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrExhausted, err)
}
