// Package spectest has what tests of collectives need: worked examples from the standards that guard the specifications
// themselves, and generators of awkward calls and values for property tests.
package spectest
