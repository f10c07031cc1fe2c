// Package browsertest tests the pages of collgen view in a browser. It is a module of its own, so that the libraries
// that drive the browser are no dependencies of others.
package browsertest
