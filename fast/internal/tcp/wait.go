package tcp

import (
	"runtime"
	"sync/atomic"
	"time"
)

const (
	// basePatience is how long a rank polls its sockets before it sleeps, for each rank that its processor serves. It
	// is longer than it takes to wake a sleeping rank: otherwise that one would find this one asleep, and so on.
	basePatience = 100 * time.Microsecond
	maxPatience  = time.Millisecond
	yieldAfter   = 10 * time.Microsecond // how long a polling rank keeps its processor if there are enough of them
	maxDirect    = 8                     // a rank that waits for more links than this asks the poller which are ready
)

// patienceFor returns the patience of each of some ranks on that many processors. The rank that is waited for may be
// the last to get its turn.
func patienceFor(ranks, processors int) time.Duration {
	turns := (max(ranks, 1) + processors - 1) / processors
	return min(time.Duration(turns)*basePatience, maxPatience)
}

// cores is the number of processors that this process may use.
var cores = runtime.NumCPU()

// polling counts the Exchanges in progress in this process, of all endpoints.
var polling atomic.Int32

// spin prepares another look at the sockets. With few links the rank tries each of them.
func (e *Endpoint) spin(idle time.Duration) {
	e.yield(idle)
	if len(e.Active) > maxDirect {
		_ = e.poll(0)
		return
	}
	for _, peer := range e.Active {
		l := &e.links[peer]
		l.in.empty, l.out.full = l.in.err != nil, false
	}
}

// yield gives up the processor if there may be more polling ranks than processors, in other processes or in this one. A
// rank that has polled for a while always yields: the rank that it waits for may need this very processor.
func (e *Endpoint) yield(idle time.Duration) {
	n := int(polling.Load())
	if n*e.localRanks <= cores && idle < yieldAfter {
		return
	}
	yieldThread()
	if n > 1 {
		runtime.Gosched()
	}
}

// poll waits, at most that long, until sockets are ready, and marks them. On ready links where no message is expected
// it reads what the other rank has to say.
func (e *Endpoint) poll(atMost time.Duration) error {
	ready, err := e.poller.wait(e, atMost)
	if err != nil {
		return err
	}
	e.timedOut = atMost > 0 && len(ready) == 0
	for _, r := range ready {
		l := &e.links[r.peer]
		if l.socket == nil {
			continue
		}
		l.in.empty, l.out.full = l.in.empty && !r.in || l.in.err != nil, l.out.full && !r.out
		if r.in && l.Receiving() == nil {
			if err := e.readControl(l); err != nil {
				l.Fail(err)
			}
		}
	}
	return nil
}

// interest returns what to watch l's socket for: what the Exchange can proceed with and, after a sleep that timed out,
// anything that arrives.
func (e *Endpoint) interest(l *link) (in, out bool) {
	return l.in.err == nil && (l.Receiving() != nil && l.in.empty || e.timedOut), l.out.full && l.out.err == nil
}

// reportStall tells the peers what this rank has waited for without progress. It returns the error of calls that
// disagree, if it finds any.
func (e *Endpoint) reportStall() error {
	for _, peer := range e.Active {
		l := &e.links[peer]
		l.Partner.RequestReport()
		if l.out.segment == 0 && l.out.flushed() { // else a message that is on its way would wait for this report
			e.appendReport(l)
		}
		if l.Receiving() == nil && l.socket != nil {
			e.readAhead(l)
			if _, err := e.take(l, nil); err != nil {
				return err
			}
		}
	}
	return e.FindDisagreement()
}
