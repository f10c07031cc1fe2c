// Package examples has one example in each folder, and the tests that run them all as processes under collrun.
package examples
