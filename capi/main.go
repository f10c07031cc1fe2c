// Command capi is package fast as a C library, libcollgen.so, which `make capi` builds: collgen.h says what it has.
//
// Every function of the header is C (entry.c, zcalls.c). It looks whether this process was forked off, enters Go by one
// of the functions that export, and keeps their error for the thread. What it needs of C in Go is in the files with
// cgo; the others are tested without.
package main

func main() {} // c-shared needs one
