// Package spec says what collectives promise: primitives, reduction operators and element types, as plain data that
// everything else in this module is derived from and checked against.
//
// A [Primitive] is a value. [Validate] reports whether it makes sense, [Expect] works out what it promises of one call,
// [Describe] puts it into words, and its Hash names the promise. The operators' exact meaning is their Doc; the table
// behind them says the same as data.
package spec
