//go:build linux && cgo && !netgo

package device

import (
	"errors"
	"fmt"
	"strings"

	"github.com/collgen/collgen/fast/internal/verbs"
)

// find opens the device that is asked for, or the first one with an active port, and says which port that is.
func find(o Options) (*verbs.Context, verbs.Port, error) {
	devices, err := verbs.Devices()
	if err != nil {
		return nil, verbs.Port{}, err
	}
	var seen []string // what is wrong with each that was looked at
	for _, device := range devices {
		if o.Device != "" && o.Device != device.Name {
			continue
		}
		context, err := device.Open()
		if err != nil {
			seen = append(seen, err.Error())
			continue
		}
		port, states, err := active(context, o.Port)
		if err == nil && port.State == verbs.PortActive {
			return context, port, nil
		}
		if err = errors.Join(err, context.Close()); err != nil {
			states = append(states, err.Error())
		}
		seen = append(seen, states...)
	}
	if len(seen) == 0 {
		return nil, verbs.Port{}, fmt.Errorf("%w: of the devices %v none is that", verbs.ErrUnavailable, devices)
	}
	return nil, verbs.Port{}, fmt.Errorf("%w: no port can be used: %s", verbs.ErrUnavailable, strings.Join(seen, ", "))
}

// active is the port of this number, or the first active one if it is 0; and the states of those that were looked at.
func active(c *verbs.Context, number int) (port verbs.Port, states []string, err error) {
	first, last := number, number
	if number == 0 {
		a, err := c.Attributes()
		if err != nil {
			return port, nil, err
		}
		first, last = 1, a.Ports
	}
	for n := first; n <= last; n++ {
		if port, err = c.Port(n); err != nil || port.State == verbs.PortActive {
			return port, states, err
		}
		states = append(states, fmt.Sprintf("%s:%d is %v", c.Device, n, port.State))
	}
	return port, states, nil
}
