package ranks

import (
	"context"
	"errors"
	"runtime"

	"github.com/collgen/collgen/fast"
)

// Setting is ranks that measure together.
type Setting struct {
	Transport string // "" under a launcher: its choice
	Ranks     int    // 0 under a launcher
}

// Work is what every rank does.
type Work func(ctx context.Context, c *fast.Comm) error

// join does the work as one rank of a job of processes.
func join(ctx context.Context, opts []fast.InitOption, f Work) error {
	c, err := fast.Init(ctx, opts...)
	if err != nil {
		return err
	}
	if err = f(ctx, c); err != nil {
		c.Abort()
	}
	return errors.Join(err, c.Close())
}

// TransportOf returns the transport between a rank and the others, in the words of selection tables.
func TransportOf(c *fast.Comm) string {
	name := ""
	for _, link := range c.Topology().Links {
		switch {
		case link == "self" || link == name:
		case name == "":
			name = link
		default:
			name = "mixed"
		}
	}
	switch name {
	case "":
		return "none"
	case "memory":
		return InProc
	}
	return name
}

// Processes are the transports of ranks that are processes.
var Processes = []string{"shm", "rdma", "tcp"}

// InProc is the transport of goroutines.
const InProc = "inproc"

// DefaultTransport returns the best transport between processes of one machine.
func DefaultTransport() string {
	if runtime.GOOS == "linux" {
		return "shm"
	}
	return "tcp"
}
