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

// Config is what Join has to be told.
type Config struct {
	Identity    secure.Identity
	Credentials secure.Credentials
	// Publish makes a card of this process known to all others under the name of a round; Fetch waits for that of a
	// process, this one included. Both end with ctx. Fetch is called from several goroutines at once.
	Publish func(ctx context.Context, round string, card []byte) error
	Fetch   func(ctx context.Context, round string, process int) ([]byte, error)
	// Refused are those whom the store has sent away, in words, for the error of a job that does not come together;
	// nil: it does not say.
	Refused func() []string
	// Addresses are this host's to listen on, the best first, and in words why these. It is called only if some process
	// is on another host, or has to be reached by TCP. Nil: there is none.
	Addresses func() (addresses []netip.Addr, why string, err error)
	ForceTCP  bool   // data goes over TCP on one host as well; all processes say the same
	Encrypt   bool   // data that goes over TCP is encrypted; all processes say the same
	HasRDMA   bool   // this process has an RDMA device
	ForceRDMA bool   // data goes over RDMA on one host as well; all processes say the same
	Host      string // what stands for this host instead of what the system tells; at most 128 bytes
	// HeartbeatTimeout is how long a process may be silent before it is taken for dead; 0: DefaultFreeze. All processes
	// say the same. They send heartbeats in an eighth of it, and count them for the processes of their host in a
	// sixteenth.
	HeartbeatTimeout time.Duration
	Log              *slog.Logger // nil: none
	// Fault is why this process cannot take part; nil: it can. Join fails with it, once the others could hear of it.
	Fault error

	pause func() // of tests: called before anything is read, written or looked after
}

// DefaultHeartbeatTimeout is how long a process may be silent, unless a Config says otherwise.
const DefaultHeartbeatTimeout = 2 * time.Second

const (
	shortestHeartbeatTimeout = 50 * time.Millisecond
	longestHeartbeatTimeout  = time.Hour
	maxProcess               = secure.StoreProcess - 1
	maxHost                  = 128
)

// Why a connection is refused, besides the reasons of package secure.
var (
	// ErrTaken: another process has the same number in the job, and was there first.
	ErrTaken = errors.New("another process has this number already")
	// ErrTicket: the ticket was not made by this job, or not for this number.
	ErrTicket = errors.New("wrong ticket")
	// ErrTicketUsed: each ticket is good once.
	ErrTicketUsed = errors.New("the ticket was used already")
)

// complete checks c and fills in what it leaves open.
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
	case c.HeartbeatTimeout < shortestHeartbeatTimeout || c.HeartbeatTimeout > longestHeartbeatTimeout:
		return fmt.Errorf("a heartbeat timeout of %v, want %v to %v", c.HeartbeatTimeout, shortestHeartbeatTimeout, longestHeartbeatTimeout)
	case len(c.Host) > maxHost || printable(c.Host) != c.Host:
		return fmt.Errorf("a host identity of %d bytes, want at most %d, all of them printable ASCII", len(c.Host), maxHost)
	}
	return nil
}
