// Package gen says how ranks carry a collective out. It has a small language, in which an algorithm is one program for
// all ranks, and instantiates algorithms to a Schedule, in which every number is filled in. Package gen/catalogue has
// the algorithms.
package gen
