package exec

import (
	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/spec"
)

// tidy makes bools of the bytes that the calls in progress may have received, whether they have failed or not.
func (e *Executor) tidy() {
	for i := range e.Group {
		if r := &e.Group[i]; r.Type == spec.TypeBool {
			kernel.Tidy(r.Dst)
		}
	}
	if x := &e.Call; x.Elem == spec.TypeBool && len(e.Group) == 0 {
		x.tidy()
	}
}

// tidy makes bools of the bytes in the blocks of Out. What lies between uneven ones is not of the call.
func (x *Call) tidy() {
	if len(x.Out.Data) == 0 || x.blocks == nil {
		kernel.Tidy(x.Out.Data)
		return
	}
	for _, is := range x.Out.blocks {
		kernel.Tidy(x.Out.Data[is.from:is.to])
	}
}
