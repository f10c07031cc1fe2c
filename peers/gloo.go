package main

import "slices"

var peerGloo = peer{
	name: gloo, pkg: "libgloo-dev", transports: []string{"tcp"},
	compile: []string{"g++", "-std=c++17", "-O3", "-march=native"}, source: "gloo.cc", link: []string{"-lgloo"},
	tunings: slices.Concat(
		glooTunings("async", "ring", 0, 64*kib),
		glooTunings("async", "ring-chunked", mib, 0),
		glooTunings("async", "halving-doubling", 64*kib, 0),
		glooTunings("async", "bcube", 64*kib, 0),
		glooTunings("async", "new-ring", 0, 64*kib),
		glooTunings("async", "new-bcube", 0, 64*kib),
	),
}

// peerPollingGloo is Gloo with pairs whose sockets the caller itself polls, which nothing that uses Gloo seems to do.
var peerPollingGloo = peer{
	name: pollingGloo, pkg: peerGloo.pkg, transports: peerGloo.transports,
	compile: peerGloo.compile, source: peerGloo.source, link: peerGloo.link,
	tunings: slices.Concat(
		glooTunings("poll", "ring", 0, 64*kib),
		glooTunings("poll", "ring-chunked", mib, 0),
		glooTunings("poll", "halving-doubling", 64*kib, 0),
		glooTunings("poll", "bcube", mib, 0),
	),
}

// glooTunings are one algorithm, with each rank on a core and with all ranks on all cores.
func glooTunings(wait, algorithm string, from, to int) []tuning {
	free := tuning{name: algorithm, from: from, to: to, program: []string{"-algorithm", algorithm, "-wait", wait}}
	fixed := free
	fixed.name, fixed.perCore = algorithm+", a core per rank", true
	return []tuning{free, fixed}
}
