//go:build !linux || !cgo || netgo

package verbs

import "fmt"

// Context is an open device.
type Context struct{}

// Devices returns an error that is ErrUnavailable.
func Devices() ([]Device, error) { return nil, unavailable() }

// Open returns an error that is ErrUnavailable.
func Open(string, func(Event, error)) (*Context, error) { return nil, unavailable() }

func unavailable() error {
	return fmt.Errorf("%w: this program was built without cgo, with the tag netgo, or not for Linux", ErrUnavailable)
}
