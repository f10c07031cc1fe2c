package rdma

import "fmt"

// Protocol says in a few words how a message of so many bytes is carried, which is reduced as it arrives or not.
func (e *Endpoint) Protocol(bytes int, reduces bool) string {
	in := "copied out of them"
	if reduces {
		in = "reduced out of them"
	}
	slots := fmt.Sprintf("written into the receiver's %d slots of %d KiB, %s", e.slots, e.bytes>>10, in)
	if bytes < longBytes || reduces {
		return slots
	}
	over := ""
	if n := len(e.rails.all); n > 1 {
		over = fmt.Sprintf(", over %d rails if the receiver has as many", n)
	}
	return "written to its place" + over + ", if that is memory of Alloc; or else " + slots
}
