package main

import "slices"

var gloo = peer{
	name: "Gloo", version: debian("libgloo-dev"),
	compile: []string{"g++", "-std=c++17", "-O3", "-march=native"}, source: "gloo.cc", link: []string{"-lgloo"},
	tunings: slices.Concat(
		[]tuning{{name: byDefault}},
		glooTunings("async", "ring", 0, 64*kib),
		glooTunings("async", "ring-chunked", 256*kib, 2*mib),
		glooTunings("async", "halving-doubling", 64*kib, 0),
		glooTunings("async", "bcube", 64*kib, 0),
		glooTunings("async", "new-bcube", 0, 64*kib),
		// The caller itself polls the sockets. It is for short messages: 64 MiB did not end within 15 s or lost the
		// connection, with each of the algorithms.
		glooTunings("poll", "ring", 0, 64*kib),
		glooTunings("poll", "ring-chunked", 256*kib, 2*mib),
		glooTunings("poll", "halving-doubling", 64*kib, 2*mib),
		glooTunings("poll", "bcube", 256*kib, 2*mib),
	),
}

// glooTunings returns one algorithm with all ranks on all cores and, for what is short enough to gain by it, with each
// rank on one.
func glooTunings(wait, algorithm string, from, to int) []tuning {
	free := tuning{name: algorithm, from: from, to: to, program: []string{"-algorithm", algorithm, "-wait", wait}}
	if wait == "poll" {
		free.name, free.ranks = algorithm+", polling", 2 // more ranks than cores would take their cores from each other
	}
	fixed := free
	fixed.name, fixed.perCore = free.name+", a core per rank", true
	if to == 0 {
		fixed.to = 2 * mib
	}
	return []tuning{free, fixed}
}

// torchGloo is Gloo as torch ships it, and called through torch.
var torchGloo = fromTorch("Gloo of torch", "torch.distributed", "gloo")

// torchOurs is what it is compared with: the same program, with our backend of torch.
var torchOurs = fromTorch(ours+" from Python", "collgen.torch", "collgen")

// fromTorch returns a backend of torch, and the module that it needs.
func fromTorch(name, module, backend string) peer {
	return peer{
		name: name, version: []string{"{python}", "-c", "import torch; print('torch', torch.__version__)"},
		has: []string{"{python}", "-c", "import " + module}, source: "through_torch.py",
		launcher:       []string{"env", "RANKS=%d", "BACKEND=" + backend, "{python}"},
		oversubscribed: []string{"env", "RANKS=%d", "BACKEND=" + backend, "{python}"},
		env: map[string][]string{"shm": {"COLL_TRANSPORT=shm", "GLOO_SOCKET_IFNAME=lo"},
			"tcp": {"COLL_TRANSPORT=tcp", "GLOO_SOCKET_IFNAME=lo"}},
		tunings: []tuning{
			{name: byDefault},
			{name: "a core per rank", program: []string{"-per-core", "yes"}},
		},
	}
}
