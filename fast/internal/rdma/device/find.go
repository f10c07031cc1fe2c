//go:build linux && cgo && !netgo

package device

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/verbs"
)

// Find returns the ports that o allows and that can be used: the first one, or all of them if o says so. Each was
// tried: a queue pair has written to itself. Their Options are filled in for Open. refused says why other ports cannot
// be used. If none can, err says so too.
func Find(ctx context.Context, o Options) (usable []Options, refused []error, err error) {
	devices, err := list(ctx, &o)
	if err != nil {
		return nil, nil, err
	}
	none := true // no device has that name
	for _, d := range devices {
		if o.Device != "" && o.Device != d.Name {
			continue
		}
		none = false
		more, why := usableOf(ctx, d, o)
		usable, refused = append(usable, more...), append(refused, why...)
		if len(usable) > 0 && !o.All || ctx.Err() != nil {
			break
		}
	}
	switch {
	case none:
		err = fmt.Errorf("%w: of the devices %v none is %s", verbs.ErrUnavailable, devices, o.Device)
	case len(usable) == 0:
		err = fmt.Errorf("%w: no port can be used: %w", verbs.ErrUnavailable, refusals(refused))
	}
	return usable, refused, err
}

// list returns the devices of this host.
func list(ctx context.Context, o *Options) ([]verbs.Device, error) {
	ctx, cancel := o.limited(ctx)
	defer cancel()
	return within(ctx, "list the devices", verbs.Devices, func([]verbs.Device) {})
}

// usableOf is Find for one device.
func usableOf(ctx context.Context, d verbs.Device, o Options) (usable []Options, refused []error) {
	if d.Node != verbs.ChannelAdapter {
		return nil, []error{fmt.Errorf("RDMA device %s is %v, not %v", d.Name, d.Node, verbs.ChannelAdapter)}
	}
	first, last := o.Port, o.Port
	if o.Port == 0 {
		n, err := portsOf(ctx, d, &o)
		if err != nil {
			return nil, []error{err}
		}
		first, last = 1, n
	}
	o.Device = d.Name
	for o.Port = first; o.Port <= last; o.Port++ {
		var err error
		if o.Settings, err = try(ctx, o); err != nil {
			refused = append(refused, err)
		} else if usable = append(usable, o); !o.All {
			break
		}
	}
	return usable, refused
}

// portsOf returns the number of a device's ports.
func portsOf(ctx context.Context, d verbs.Device, o *Options) (int, error) {
	ctx, cancel := o.limited(ctx)
	defer cancel()
	return within(ctx, "open "+d.Name, func() (int, error) {
		c, err := verbs.Open(d.Name, nil)
		if err != nil {
			return 0, err
		}
		a, err := c.Attributes()
		return a.Ports, errors.Join(err, c.Close())
	}, func(int) {})
}

// try opens a port, lets it write to itself, and closes it. It returns the settings that it has used.
func try(ctx context.Context, o Options) (settings string, err error) {
	ctx, cancel := o.limited(ctx)
	defer cancel()
	o.Completions = rdma.Completions(1)
	writing, stop := o.half(ctx)
	defer stop()
	return within(ctx, fmt.Sprintf("try port %d of %s", o.Port, o.Device), func() (string, error) {
		d, err := open(o)
		if err != nil {
			return "", err
		}
		return o.settings(d.port, d.gid), errors.Join(rdma.Try(writing, d), d.Close())
	}, func(string) {})
}

// refusals are several errors that print in one line.
type refusals []error

func (r refusals) Error() string {
	words := make([]string, len(r))
	for i, err := range r {
		words[i] = err.Error()
	}
	return strings.Join(words, "; ")
}

func (r refusals) Unwrap() []error { return r }
