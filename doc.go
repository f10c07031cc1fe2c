// Package collgen is the root of a module for collective communication, in which every schedule that runs was first
// proved to do what its specification says. It has no code; programs import its package fast.
//
// The module reads in this order: spec (what a collective promises), gen (how ranks carry it out), verify (the proof),
// gen/emit and cmd/collgen (the generator), fast (the library it generates, and its runtime). ARCHITECTURE.md draws the
// line.
package collgen
