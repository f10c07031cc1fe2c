// Package colltest tests any implementation of collectives against their specifications. [Run] takes an
// [Implementation], a small adapter to the code under test. It draws calls of everything that the implementation claims
// to support, has all ranks make them on guarded memory, and compares the memory afterwards with the promises of
// package spec. Integers and moved data have to be equal to the bit, sums and products of floats have to be within the
// error bound of every reduction tree. Memory outside the results must not change, and every rank has to return. A
// failure is shrunk until nothing more can be left out, and made again in worlds of its own. It is printed with how
// often it has failed then, in a form that [Suite.Try] repeats. What was not tested is printed, too.
//
// Programs in other languages are tested through package remote, an Implementation that speaks a text protocol.
package colltest
