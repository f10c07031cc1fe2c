//go:build !amd64 || race

package release

import "sync/atomic"

// store is the one of sync/atomic, which is no slower on other processors, and which the race detector knows.
func store(p *atomic.Uint64, v uint64) { p.Store(v) }
