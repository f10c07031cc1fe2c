package fast

import (
	"io"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// WriteTrace writes what the flight recorder of this rank has kept, of all its communicators, for [trace.Read]. It
// may be called from any goroutine, also while calls run. A Comm that neither Run nor Init made has no recorder, and
// refuses.
func (c *Comm) WriteTrace(w io.Writer) error {
	if c == nil || c.track == nil {
		return wire.Refuse("WriteTrace", "the communicator has no flight recorder")
	}
	if fork.Child() { // before locks, which another thread may have held at the fork
		return c.refusedError("WriteTrace", ErrForked)
	}
	return c.track.WriteTrace(w)
}

// The rest of this file is what a rank writes down of its protocols' doing, in programs that are built for that
// (events.On).

// logTo has what c does written to log; nil: nowhere.
func (c *Comm) logTo(log *events.Log) {
	if !events.On || log == nil {
		return
	}
	m := &events.Member{Name: c.name, Rank: c.rank, Size: c.size, Processes: c.processes(), Transport: c.exec.Carrier}
	if t, ok := c.exec.Transport.(transport.Ringed); ok {
		m.Slots, m.Lines = t.Rings()
	}
	c.exec.EventLog = &exec.EventLog{Trail: log.Join(c.id, m)}
	if t, ok := c.exec.Transport.(transport.Follower); ok {
		t.Follow(c.exec.EventLog.Trail)
	}
}

// ending returns how c stands and what err says, in the words of an event log; nil where there is no log, or no error.
func (c *Comm) ending(err error) *events.Ended {
	if !events.On || c.exec.EventLog == nil || err == nil {
		return nil
	}
	ended := &events.Ended{State: c.State().String(), Error: failure.OneLine(err.Error())}
	if c.track != nil {
		ended.Blames = c.atFault(err)
	}
	return ended
}

// logEnd writes that something of c has ended, and why.
func (c *Comm) logEnd(do events.Kind, err error) {
	if events.On && c.exec.EventLog != nil {
		c.exec.EventLog.Write(&events.Event{Do: do, Ended: c.ending(err)})
	}
}

// logNotice writes that the others are told n, or that one has told it.
func (c *Comm) logNotice(do events.Kind, from int, n *failure.Notice) {
	if events.On && c.exec.EventLog != nil {
		c.exec.EventLog.Write(&events.Event{Do: do,
			Notice: &events.Notice{From: from, By: n.By, State: n.State.String(), Rank: n.Rank, Down: n.Down}})
	}
}

// logAgreement writes what all ranks have agreed on.
func (c *Comm) logAgreement(what agree.Call, seq uint64, v *agree.Value, err error) {
	if !events.On || c.exec.EventLog == nil {
		return
	}
	e := events.Event{Do: events.Agree, Agreed: &events.Agreed{Seq: seq, What: what.String(), Flags: v.Flags,
		Gone: v.Gone.Members()}}
	if err != nil {
		e.Ended = &events.Ended{Error: failure.OneLine(err.Error())}
	}
	c.exec.EventLog.Write(&e)
}
