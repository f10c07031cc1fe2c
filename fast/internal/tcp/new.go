package tcp

import (
	"context"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/wire"
)

// New returns rank's end of its links to all size ranks, encrypted or not. localRanks of them are on this host,
// including rank. connect is called once for each peer, when a link to it is first needed, and must not block. Somebody
// then calls Attach or ConnectFailed.
func New(rank, size, localRanks int, encrypted bool, connect func(peer int)) *Endpoint {
	e := &Endpoint{localRanks: localRanks, encrypted: encrypted, connect: connect, poller: new(poller),
		links: make([]link, size)}
	e.Patience = patienceFor(localRanks, cores)
	all := make([]*linkbase.Link, size)
	for peer := range all {
		all[peer] = &e.links[peer].Link
	}
	e.Init(rank, all, linkbase.Hooks{
		Connect: e.request, Adopt: e.adopt, Push: e.push, Pull: e.pull,
		Spin: e.spin, Sleep: e.poll, Stalled: e.reportStall,
		Abort: e.abort, Wake: func() { e.poller.wake() }, Release: e.release,
	})
	return e
}

// Exchange is linkbase's, counted among those that poll in this process.
func (e *Endpoint) Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error {
	polling.Add(1)
	defer polling.Add(-1)
	e.timedOut = false
	return e.Endpoint.Exchange(ctx, sends, recvs)
}

// Progress is linkbase's, counted among those that poll in this process.
func (e *Endpoint) Progress(ctx, until context.Context) error {
	polling.Add(1)
	defer polling.Add(-1)
	e.timedOut = false
	return e.Endpoint.Progress(ctx, until)
}

// abort lets segments that were begun, and refusals, go out after an Exchange that failed.
func (e *Endpoint) abort() {
	for _, peer := range e.Peers {
		l := &e.links[peer]
		l.copyRest()
		if l.Partner.Refusal != nil && l.socket != nil {
			l.out.pending, l.Partner.Refusal = append(l.out.pending, l.Partner.Refusal...), nil
			l.out.flush(l.socket)
		}
	}
}
