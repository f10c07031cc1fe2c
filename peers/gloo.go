package main

import "slices"

var peerGloo = peer{
	name: gloo, pkg: "libgloo-dev", transports: []string{"tcp"},
	compile: []string{"g++", "-std=c++17", "-O3", "-march=native"}, source: "gloo.cc", link: []string{"-lgloo"},
	tunings: slices.Concat(
		glooTunings("async", "ring", 0, 64*kib),
		glooTunings("async", "ring-chunked", mib, mib),
		glooTunings("async", "halving-doubling", 64*kib, 0),
		glooTunings("async", "bcube", 64*kib, 0),
		glooTunings("async", "new-ring", 0, 64*kib),
		glooTunings("async", "new-bcube", 0, 64*kib),
	),
}

// peerPollingGloo is Gloo with pairs whose sockets the caller itself polls. It is for short messages: 16 MiB took
// longer so than without, and 64 MiB did not end within 15 s or lost the connection, with each of the algorithms.
var peerPollingGloo = peer{
	name: pollingGloo, pkg: peerGloo.pkg, transports: peerGloo.transports,
	compile: peerGloo.compile, source: peerGloo.source, link: peerGloo.link,
	tunings: slices.Concat(
		glooTunings("poll", "ring", 0, 64*kib),
		glooTunings("poll", "ring-chunked", mib, mib),
		glooTunings("poll", "halving-doubling", 64*kib, mib),
		glooTunings("poll", "bcube", mib, mib),
	),
}

// glooTunings returns one algorithm with all ranks on all cores and, for what is short enough to gain by it, with each
// rank on one.
func glooTunings(wait, algorithm string, from, to int) []tuning {
	free := tuning{name: algorithm, from: from, to: to, program: []string{"-algorithm", algorithm, "-wait", wait}}
	fixed := free
	fixed.name, fixed.perCore = algorithm+", a core per rank", true
	if to == 0 {
		fixed.to = mib
	}
	return []tuning{free, fixed}
}
