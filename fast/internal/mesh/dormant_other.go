//go:build !linux

package mesh

// dormants does nothing: only on Linux are connections made by other processes.
type dormants struct {
	stir  func(*peer)
	start func(func())
}

func (*dormants) add(*peer) bool { return false }

func (*dormants) rearm(*peer) {}

func (*dormants) remove(*peer) {}

func (*dormants) close() {}
