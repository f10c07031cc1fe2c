//go:build !linux

package main

import "errors"

// pin fails where processes cannot be kept on a core.
func pin(int) (undo func() error, err error) {
	return nil, errors.New("this system cannot keep a process on a core: want -pin=false")
}
