// Package smtproof proves algorithms for every number of ranks: it has solvers of SMT-LIB decide what package induct
// derives, and keeps a record of what was proved, of which algorithm, and by which solvers. What a solver does not
// answer in time is not proved. What it refutes becomes a counterexample with numbers, which is evaluated again without
// the solver, and for whose size package verify has its say.
package smtproof
