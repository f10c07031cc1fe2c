// Package readback reads generated Go back. It finds out what ranks do in a generated function and what they are to do
// by the algorithm, and compares the two in a normal form, for every number of ranks at once: so what was proved of the
// algorithm holds of the text. It shares no code with package emit, which prints the text, understands the forms of
// statements and expressions that generated code has, and refuses all others.
//
// The normal form is a list of the calls that a rank makes of the runtime, in loops, each with the conditions under
// which it is made. Names are replaced by what they stand for: by terms over the parameters of the call and the turns
// of loops. Two terms are equal only if they have the same value wherever the expression of the algorithm has one.
package readback
