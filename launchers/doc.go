// Package launchers has nothing but tests: they start one small program, rollcall, under every launcher, with every
// store, and on several hosts, which are network namespaces. In rollcall all ranks exchange messages and check what
// they get, so a test that passes says that the ranks found each other, and which of them share memory.
//
// What needs launchers and servers, or root, runs under `make test-launchers`, which installs them first. A test that
// cannot run all the same prints why.
package launchers
