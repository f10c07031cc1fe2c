package main

import "slices"

// peer is another library: how a program of ours is built with it and started. All of them are data.
type peer struct {
	name       string
	pkg        string   // of Debian, for its version
	transports []string // on which it is compared
	compile    []string // the compiler, and what comes before the source
	source     string
	link       []string // what comes after the source
	// launcher is the command before the program, where %d stands for the number of ranks; none: each rank is started
	// with
	// -rank, -ranks, and -store for an empty folder. If there are more ranks than cores, it is crowded instead.
	launcher, crowded []string
	env               map[string][]string // by transport
	tunings           []tuning
}

// tuning is one way to set up a peer. The best one for a cell is what we are compared with.
type tuning struct {
	name        string
	collectives []string // nil: all
	transport   string   // "": both
	ranks       int      // 0: any number
	from, to    int      // bytes; to 0: no end
	env         []string
	program     []string // arguments
	perCore     bool     // without a launcher: each rank stays on one core
}

func (t *tuning) fits(c contest) bool {
	return (t.collectives == nil || slices.Contains(t.collectives, c.Collective)) &&
		(t.transport == "" || t.transport == c.Transport) &&
		(t.ranks == 0 || t.ranks == c.Ranks) &&
		t.from <= c.Bytes && (t.to == 0 || c.Bytes <= t.to)
}

// peers are all that there are.
var peers = []*peer{&peerOpenMPI, &peerMPICH, &peerGloo, &peerPollingGloo}

func peerNamed(name string) *peer {
	return peers[slices.IndexFunc(peers, func(p *peer) bool { return p.name == name })]
}

const (
	kib = 1 << 10
	mib = 1 << 20
)
