package fast

import (
	"context"
	"net"

	"github.com/collgen/collgen/fast/internal/store"
	"github.com/collgen/collgen/fast/internal/wire"
)

// ServeStore keeps the store of one job at l, for the ranks that have WithStoreAddress("tcp://…") with its address. Of
// the options, those for the job's name, its epoch and its secret or certificate count; the secret is required. The
// certificate has the DNS name "store.<job>". It returns nil when ctx ends, or why l failed; l is closed.
func ServeStore(ctx context.Context, l net.Listener, opts ...InitOption) error {
	var p initConfig
	for _, o := range opts {
		if o != nil {
			o(&p)
		}
	}
	cred, err := p.credentials()
	if err == nil {
		err = p.err
	}
	if err == nil && cred == nil {
		err = wire.Refuse("ServeStore", noSecret)
	}
	if err != nil {
		_ = l.Close()
		return err
	}
	return store.ServeTCP(ctx, l, cred, store.Job{Name: p.job, Epoch: p.epoch, Log: p.logger()})
}
