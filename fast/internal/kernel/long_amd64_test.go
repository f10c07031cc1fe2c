//go:build amd64 && !purego

package kernel

// What is best on other processors is tested as well: every processor can do it.
func init() {
	ways["Copy, as on others"] = func(dst, src []byte) {
		defer func(here bool) { streams = here }(streams)
		streams = !streams
		Copy(dst, src)
	}
	ways["Deliver, as on others"] = func(dst, src []byte) {
		defer func(here bool) { moves = here }(moves)
		moves = !moves
		Deliver(dst, src)
	}
}
