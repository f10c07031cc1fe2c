package mesh

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
)

// Config configures Join.
type Config struct {
	Identity    secure.Identity
	Credentials secure.Credentials
	// Publish publishes a card of this process in a round; Fetch waits for the card of any process, including this one.
	// Both end with ctx. Fetch is called from several goroutines at once.
	Publish func(ctx context.Context, round string, card []byte) error
	Fetch   func(ctx context.Context, round string, process int) ([]byte, error)
	// Refused lists the processes that the store has refused, for the error of a job that does not start. It may be
	// nil.
	Refused func() []string
	// Addresses returns this host's addresses to listen on, the best first, and why it chose them. It is called only if
	// a process is on another host or forces TCP. Nil means that there are none.
	Addresses func() (addresses []netip.Addr, why string, err error)
	ForceTCP  bool   // use TCP for data on one host too; the same on all processes
	Encrypt   bool   // encrypt data over TCP; the same on all processes
	HasRDMA   bool   // this process has an RDMA device
	ForceRDMA bool   // use RDMA for data on one host too; the same on all processes
	Host      string // identifies this host, instead of the identity that the system gives; at most 128 bytes
	// HeartbeatTimeout is how long a process may be silent before it is taken for dead; 0 means
	// DefaultHeartbeatTimeout. It is the same on all processes.
	HeartbeatTimeout time.Duration
	Log              *slog.Logger // nil: none
	// Fault, if not nil, is why this process cannot take part. Join fails with it after the others could learn of it.
	Fault error

	pause func() // of tests: called before anything is read, written or looked after
}

// DefaultHeartbeatTimeout is how long a process may be silent, unless a Config says otherwise. How
// often heartbeats are sent is derived from it, and how long the search for deadlocks waits. The least time for writes
// that make no progress, blocked, is not.
const DefaultHeartbeatTimeout = 2 * time.Second

const (
	minHeartbeatTimeout = 50 * time.Millisecond
	maxHeartbeatTimeout = time.Hour
	maxProcess          = secure.StoreProcess - 1
	maxHost             = 128
)

// Reasons why a connection is refused, in addition to those of package secure.
var (
	// ErrTaken: another process has the same number in the job, and connected first.
	ErrTaken = errors.New("another process has this number already")
	// ErrTicket: the ticket was not made by this job, or not for this number.
	ErrTicket = errors.New("wrong ticket")
	// ErrTicketUsed: each ticket can be used once.
	ErrTicketUsed = errors.New("the ticket was used already")
)

// complete sets the defaults of c and checks it.
func (c *Config) complete() error {
	if c.HeartbeatTimeout == 0 {
		c.HeartbeatTimeout = DefaultHeartbeatTimeout
	}
	if c.Host == "" {
		c.Host = hostIdentity()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Refused == nil {
		c.Refused = func() []string { return nil }
	}
	if c.pause == nil {
		c.pause = func() {}
	}
	switch id := c.Identity; {
	case id.Size < 1 || id.Process < 0 || id.Process > maxProcess || id.Size > maxProcess:
		return fmt.Errorf("there is no process %d of %d", id.Process, id.Size)
	case c.Credentials == nil:
		return errors.New("a process has no credentials")
	case c.HeartbeatTimeout < minHeartbeatTimeout || c.HeartbeatTimeout > maxHeartbeatTimeout:
		return fmt.Errorf("a heartbeat timeout of %v, want %v to %v", c.HeartbeatTimeout, minHeartbeatTimeout,
			maxHeartbeatTimeout)
	case len(c.Host) > maxHost || printable(c.Host) != c.Host:
		return fmt.Errorf("a host identity of %d bytes, want at most %d, all of them printable ASCII", len(c.Host), maxHost)
	}
	return nil
}
