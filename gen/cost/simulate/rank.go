package simulate

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

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
			if w.began != nil {
				w.began(r)
			}
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
