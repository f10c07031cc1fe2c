// Package commtest tests communicators over every transport, from outside package fast: disagreements, deadlocks,
// failures, memory, and calls beside each other.
package commtest
