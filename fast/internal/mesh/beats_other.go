//go:build !linux

package mesh

import "sync/atomic"

// beats does nothing: processes share memory only on Linux.
type beats struct{ file int }

func newBeats() (*beats, error) { return nil, errNoFiles }

func newTally(int) (*beats, error) { return nil, errNoFiles }

func openTally(int, int) (*beats, error) { return nil, errNoFiles }

func (*beats) slot(int) *beats { return new(beats) }

func openBeats(file int) (*beats, error) { return nil, errNoFiles }

func (*beats) beat(int64) {}

func (*beats) late() *atomic.Int64 { return new(atomic.Int64) }

func (*beats) beaten() uint64 { return 0 }

func (*beats) close() {}
