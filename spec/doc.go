// Package spec says what collectives promise: primitives, reduction operators and element types, as plain data that
// everything else in this module is derived from and checked against.
package spec
