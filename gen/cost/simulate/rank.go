package simulate

import (
	"fmt"
	"iter"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// rank is one rank in its program.
type rank struct {
	host, core int32
	calling    bool  // it has begun a call that it has not paid for
	beside     int32 // messages that it waits for from ranks of its core
	done       bool
	work       queue[work]
	free       moment // when the last thing was done that a core did for it

	programs func() (step func() ([]gen.Instr, error, bool), stop func())
	next     func() ([]gen.Instr, error, bool)
	stop     func()
	calls    int // behind this one

	step            int    // counted through all calls
	begun, last     moment // when the step began, and the latest of what it has done
	pending         int    // its messages that are not done
	copied, reduced int    // bytes, in its local actions
}

// start has all ranks begin.
func (w *world) start(programs func(rank int) program) error {
	for i := range w.ranks {
		k := &w.ranks[i]
		k.programs = func() (func() ([]gen.Instr, error, bool), func()) { return iter.Pull2(programs(i)) }
		k.next, k.stop = k.programs()
		k.calls, k.calling = max(0, w.call.Repeat-1), true
	}
	for i := range w.ranks {
		if err := w.begin(int32(i), moment{}); err != nil {
			return err
		}
	}
	return w.settle()
}

// close ends the programs.
func (w *world) close() {
	for i := range w.ranks {
		if stop := w.ranks[i].stop; stop != nil {
			stop()
		}
	}
}

// begin has rank r begin its next step that has anything to do.
func (w *world) begin(r int32, at moment) error {
	k := &w.ranks[r]
	k.begun, k.last, k.copied, k.reduced = at, at, 0, 0
	for k.pending == 0 && k.copied+k.reduced == 0 {
		step, err, ok := k.next()
		switch {
		case err != nil:
			return err
		case ok:
			k.step++
			if err := w.do(r, step); err != nil {
				return err
			}
		case k.calls > 0:
			k.calls--
			k.calling = true
			k.stop()
			k.next, k.stop = k.programs()
		default:
			k.done = true
			return nil
		}
	}
	if k.pending == 0 {
		w.give(r, work{kind: locally})
	}
	return nil
}

// do begins what stands in step.
func (w *world) do(r int32, step []gen.Instr) error {
	k := &w.ranks[r]
	for i := range step {
		in := &step[i]
		w.count(k, in)
		if n, ok := w.message(in); ok {
			k.pending++
			if err := w.post(r, in, n, repeats(step, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// message returns how many bytes in sends or receives, if it does and they are not left out: without bytes there is no
// message, unless it is a signal.
func (w *world) message(in *gen.Instr) (bytes int, ok bool) {
	place := in.Dst
	switch in.Kind {
	case gen.SendInstr:
		place = in.Srcs[0]
	case gen.RecvInstr, gen.RecvReduceInstr:
	default:
		return 0, false
	}
	bytes = w.cuts.Len(place)
	return bytes, bytes > 0 || place.Buf == ""
}

// count counts the bytes of a local action.
func (w *world) count(k *rank, in *gen.Instr) {
	switch in.Kind {
	case gen.CopyInstr:
		same := w.call.InPlace && in.Dst.Buf != spec.Scratch && in.Srcs[0].Buf != spec.Scratch
		if !same && !in.Lend {
			k.copied += w.cuts.Len(in.Dst)
		}
	case gen.ReduceInstr:
		k.reduced += (len(in.Srcs) - 1) * w.cuts.Len(in.Dst)
		if len(in.Srcs) == 1 {
			k.copied += w.cuts.Len(in.Dst)
		}
	}
}

// oneDone is called when a message of r's step is done.
func (w *world) oneDone(r int32, at moment) error {
	k := &w.ranks[r]
	k.last = later(k.last, at)
	if k.pending--; k.pending > 0 {
		return nil
	}
	if k.pending < 0 {
		return fmt.Errorf("rank %d has more messages than it began", r)
	}
	if k.copied+k.reduced > 0 {
		k.begun = k.last
		w.give(r, work{kind: locally})
		return nil
	}
	return w.begin(r, k.last)
}
