// Package colltest tests any implementation of collectives against their specifications. [Run] takes an
// [Implementation], a small adapter to what is to be tested, draws calls of everything that it says it can do, has all
// ranks make them on guarded memory, and compares what is there afterwards with what package spec promises: integers
// and moved data to the bit, sums and products of floats within the bound that holds in every tree of reduction. What
// must not change is compared as well, and a rank that does not come back is found. A failure is made smaller until
// nothing about it can be left out, and printed in a form that [Suite.Try] repeats. What was not tested is printed too.
//
// Programs in other languages are tested through package remote, which is an Implementation by a protocol of lines of
// text.
package colltest
