// Package bootstrap brings the processes of a job together. From the options of Init it opens the store, obtains the
// credentials, chooses an interface and RDMA devices, and connects this process to all others.
package bootstrap

import (
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/store"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Config is what a process has to know to find the others of its job. The zero Config is what Init has without options.
type Config struct {
	Rank, Size       int
	RankErr          error // why the environment gives no rank
	Job              string
	Epoch            uint32
	Store            store.Store // the caller's; nil: the one at StoreAddress
	StoreAddress     string
	NoStoreReason    string                        // why the environment names no store
	SecretFrom       func() (secure.Secret, error) // a function, so that printing a Config does not print the secret
	Certificate      secure.Credentials            // nil: ranks use the secret
	Transport        string
	Network          string // an interface, a network or an address to listen on
	Host             string // names this host, in place of the system's name
	Encrypt          bool
	NoCMA            bool
	RDMADevice       string
	OpenRDMA         setup.RDMAOpener // nil: the devices of this host, once Connect has found them
	HeartbeatTimeout time.Duration
	Log              *slog.Logger // nil with LogSet: no log
	LogSet           bool         // false: slog.Default()
	TraceDir         string

	hasRDMA bool // a device can be opened
}

// Logger returns where warnings go; nil: nowhere.
func (c *Config) Logger() *slog.Logger {
	if c.LogSet {
		return c.Log
	}
	return slog.Default()
}

// Check refuses options that contradict each other, and names that stand for nothing on this host, even if nothing
// would use them.
func (c *Config) Check() error {
	switch {
	case c.Size == 0 && c.RankErr != nil:
		return wire.Refuse("Init", "%v", c.RankErr)
	case c.Size == 0:
		return wire.Refuse("Init", "the rank is not given")
	case c.Size < 0 || c.Rank < 0 || c.Rank >= c.Size:
		return wire.Refuse("Init", "there is no rank %d of %d", c.Rank, c.Size)
	case !slices.Contains([]string{"", "shm", "rdma", "tcp"}, c.Transport):
		return wire.Refuse("Init", "there is no transport %q, want shm, rdma or tcp", c.Transport)
	case c.Transport == "rdma" && c.Encrypt:
		return wire.Refuse("Init", "what goes over RDMA cannot be encrypted")
	}
	if err := checkStoreAddress(c.StoreAddress); err != nil {
		return err
	}
	if c.Network != "" {
		if _, err := ChooseInterface(c.Network, c.StoreAddress); err != nil {
			return wire.Refuse("Init", "%v", err)
		}
	}
	if info, err := os.Stat(c.TraceDir); c.TraceDir != "" && err == nil && !info.IsDir() {
		return wire.Refuse("Init", "traces are to be written to %s, which is no directory", c.TraceDir)
	}
	return nil
}
