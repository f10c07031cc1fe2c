package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/collgen/collgen/internal/peerlibs"
)

// peer is another library: how our program for it is built and started. Its commands are for peerlibs.Placed.
type peer struct {
	name    string
	version []string // a command that prints it
	has     []string // a command that fails where the peer is not installed; none: building the program does
	compile []string // the compiler, and the arguments before the source; none: the source is a script
	source  string
	link    []string // the arguments after the source
	// launcher is the command before the program, in which %d stands for the number of ranks. oversubscribed replaces
	// it if there are more ranks than cores; none: ranks of the peer wait without yielding their core, and such a ratio
	// says nothing. A peer without a launcher has each rank started with -rank, -ranks, and -store for an empty folder.
	launcher, oversubscribed []string
	env                      map[string][]string // by transport
	tunings                  []tuning            // the first is the default
}

// tuning is one way to set up a peer. We are compared with the peer's default, and with the best one for each size.
type tuning struct {
	name        string
	collectives []string // nil: all
	transport   string   // "": both
	ranks       int      // 0: any number
	from, to    int      // bytes; to 0: no upper bound
	env         []string
	program     []string // arguments
	perCore     bool     // without a launcher: each rank stays on one core
}

// byDefault is the name of the tuning in which nothing is set.
const byDefault = "default"

// fits reports whether t is worth trying in b.
func (t *tuning) fits(b benchmark) bool {
	return (t.collectives == nil || slices.Contains(t.collectives, b.Collective)) &&
		(t.transport == "" || t.transport == b.Transport) &&
		(t.ranks == 0 || t.ranks == b.Ranks) &&
		t.from <= b.Bytes && (t.to == 0 || b.Bytes <= t.to)
}

// peers lists all peers.
var peers = []*peer{&openMPI5, &mpich5, &intelMPI, &openMPI4, &mpich4, &gloo, &torchGloo}

// cannot returns why p is left out of calls on so many cores; "" if it is not.
func (p *peer) cannot(c call, cores int) string {
	if c.Ranks > cores && p.launcher != nil && p.oversubscribed == nil {
		return fmt.Sprintf("%s with %d ranks on %d cores: it waits without yielding them", p.name, c.Ranks, cores)
	}
	return ""
}

// versionText returns the version of p; "" if it is not known.
func (p *peer) versionText(ctx context.Context) string {
	command := peerlibs.Placed(p.version...)
	out, err := exec.CommandContext(ctx, command[0], command[1:]...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// debian returns a command that prints a package's name and version.
func debian(pkg string) []string {
	return []string{"dpkg-query", "-W", "-f", "Debian's ${Package} ${Version}", pkg}
}

// pypi returns a command that prints what verify/colltest/adapters/install has installed.
func pypi(folder string) []string { return []string{"cat", "{peers}/" + folder + "/installed"} }
