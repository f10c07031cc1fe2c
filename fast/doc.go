// Package fast runs collectives among the ranks of a communicator: goroutines of one process, or processes.
package fast

//go:generate go run ../cmd/collgen gen
