package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/collgen/collgen/fast"
)

// settle says which ranks there will be.
func (o *options) settle(g *given) error {
	switch l, err := fast.Detect(); {
	case err == nil:
		o.launch = &l
		return o.join(g)
	case !errors.Is(err, fast.ErrNoLauncher):
		return err
	}
	if g.ranks == "" {
		g.ranks = strconv.Itoa(runtime.NumCPU())
	}
	if g.transports == "" {
		g.transports = defaultTransport()
	}
	for _, t := range strings.Split(g.transports, ",") {
		if !slices.Contains(processes, t) && t != inproc {
			return fmt.Errorf("-transport %s: want shm, rdma, tcp or inproc", t)
		}
		for _, n := range strings.Split(g.ranks, ",") {
			ranks, err := strconv.Atoi(n)
			if err != nil || ranks < 1 {
				return fmt.Errorf("-ranks %s: want numbers, at least 1", g.ranks)
			}
			o.settings = append(o.settings, setting{t, ranks})
		}
	}
	return nil
}

// join takes the ranks as the launcher has made them. Ranks that collperf itself has started get the flags that were
// meant for the one that started them.
func (o *options) join(g *given) error {
	s := setting{ranks: o.launch.Size}
	if !isRank() {
		s.transport = g.transports
		switch {
		case g.ranks != "":
			return fmt.Errorf("-ranks is for ranks that collperf starts; this is rank %d of %d already: %s",
				o.launch.Rank, o.launch.Size, o.launch.Reason)
		case s.transport != "" && !slices.Contains(processes, s.transport):
			return fmt.Errorf("-transport %s: under a launcher, want shm, rdma or tcp", s.transport)
		}
	}
	o.settings = []setting{s}
	return nil
}
