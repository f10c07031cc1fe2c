package tsc

// counter returns the virtual counter of the architecture, which runs at one rate and is the same on all cores.
func counter() int64

const steady = true
