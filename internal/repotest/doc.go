// Package repotest has tests of the repository as a whole: which packages import which, whether documents say what is
// true, whether what is exported has a comment, and how generated files begin.
package repotest
