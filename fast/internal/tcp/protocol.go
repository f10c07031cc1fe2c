package tcp

import "fmt"

// Protocol says in a few words how a message of so many bytes is carried, which is reduced as it arrives or not.
func (e *Endpoint) Protocol(bytes int, reduces bool) string {
	out := "sent from where it lies"
	switch {
	case e.encrypted:
		out = fmt.Sprintf("sealed in records of %d KiB", recordBytes>>10)
	case bytes <= copyBytes:
		out = "sent in one piece with its header"
	case bytes > maxSegment:
		out = fmt.Sprintf("sent from where it lies, %d MiB at a time", maxSegment>>20)
	}
	switch {
	case reduces:
		return out + ", reduced out of the receive buffer"
	case bytes < directBytes || e.encrypted:
		return out + ", copied out of the receive buffer"
	}
	return out + ", received where it belongs"
}
