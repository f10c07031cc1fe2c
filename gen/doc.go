// Package gen says how ranks carry a collective out: a small language in which an algorithm is one program for all
// ranks, the catalogue of algorithms, and their instantiation to a Schedule, in which every number is filled in.
package gen
