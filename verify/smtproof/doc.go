// Package smtproof proves algorithms for every number of ranks. SMT solvers decide the obligations that package induct
// derives, and a record keeps what was proved of which algorithm, and by which solvers. An obligation that a solver
// does not decide in time is not proved. One that it refutes becomes a counterexample with numbers, which is evaluated
// again without the solver. Package verify then checks the algorithm at the size of the counterexample.
package smtproof
