package main

// move copies from, by the instruction REP MOVSB, to the beginning of into, which is as long at least. It writes whole
// cache lines without fetching them from the other core, which has read what was there before.
//
//go:noescape
func move(into, from []byte)

// pause lets the other thread of this core have all of it for a moment, if there is one.
func pause()
