//go:build !linux

package limits

// systemProbes has nothing: those probes need Linux.
var systemProbes []probe
