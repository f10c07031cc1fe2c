package main

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/emit/text"
	"github.com/collgen/collgen/selection"
)

// oneCall is a command that shows one call of one algorithm.
type oneCall struct {
	*call
	sizes   sizeRange // from and to are equal
	root    int
	peer    int
	depth   int
	perHost int // ranks on one host; 0: all
}

// callFlags registers the flags that say which call is meant; perHost is the text of that for hosts.
func (c *oneCall) callFlags(perHost string) {
	c.sizes = sizeRange{4, 4}
	c.flags.IntVar(&c.root, "root", 0, "`rank` of the root")
	c.flags.IntVar(&c.peer, "peer", 1, "`rank` of the receiver")
	c.flags.IntVar(&c.depth, "depth", 2, "`number` of pieces of a pipelined algorithm")
	c.flags.Var(&c.sizes, "n", "`number` of ranks")
	c.flags.Var(&c.sizes, "size", "`number` of ranks, as -n")
	c.flags.IntVar(&c.perHost, "ranks-per-host", 0, perHost)
}

// algorithm returns the one that the command line names.
func (c *oneCall) algorithm(s *source) (*algorithm, error) {
	found, err := s.match(c.args[0])
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		return nil, usageError{fmt.Errorf("want one algorithm: %s", strings.Join(namesOf(found), ", "))}
	}
	return found[0], nil
}

// localOf returns how many ranks each host has: if the command line does not say, the fewest more than one that a
// serves.
func (c *oneCall) localOf(a *algorithm) int {
	if !a.HasLocal() || c.isSet("ranks-per-host") {
		return c.perHost
	}
	for _, n := range a.Locals(c.sizes.from) {
		if n > 1 {
			return n
		}
	}
	return 1
}

// schedule returns what the call of the command line does.
func (c *oneCall) schedule(a *algorithm) (*gen.Schedule, error) {
	p, err := c.params(a)
	if err != nil {
		return nil, err
	}
	return gen.Instantiate(&a.Algorithm, p)
}

// params returns the parameters of the call of the command line, which a serves.
func (c *oneCall) params(a *algorithm) (p gen.Params, err error) {
	if local := c.localOf(a); !a.Serves(c.sizes.from, local) {
		return p, fmt.Errorf("%s does not serve %s: it requires %s", a.FullName(), selection.Ranks(c.sizes.from, local,
			a.HasLocal()), text.Requirements(a.Requires))
	}
	p = gen.Params{Size: c.sizes.from, Root: c.root, Peer: c.peer, Depth: c.depth, Local: c.localOf(a)}
	if !c.isSet("peer") {
		p.Peer = min(p.Peer, p.Size-1) // one rank alone has no other
	}
	switch {
	case p.Root < 0 || p.Root >= p.Size:
		return p, usageError{fmt.Errorf("root is %d, want a rank of %d", p.Root, p.Size)}
	case p.Peer < 0 || p.Peer >= p.Size:
		return p, usageError{fmt.Errorf("peer is %d, want a rank of %d", p.Peer, p.Size)}
	case p.Depth < 1:
		return p, usageError{fmt.Errorf("depth is %d, want at least 1", p.Depth)}
	}
	for _, e := range a.Primitive.Errors {
		if refused, err := e.When.Eval(p.Env(0)); err != nil || refused != 0 {
			return p, fmt.Errorf("%s of %s: %s", a.FullName(), callWords(a.Primitive, p), e.Reason)
		}
	}
	return p, nil
}
