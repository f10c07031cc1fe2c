package fast

import (
	"fmt"
	"slices"
	"strings"
)

// Topology says which ranks of a communicator share a host, and how ranks talk to each other.
type Topology struct {
	// Hosts are the ranks of each host, in ascending order; the hosts are in the order of their lowest ranks.
	Hosts [][]int `json:"hosts"`
	// Links is how this rank talks to each rank: "self", "inproc" (goroutines), "shm", "rdma" or "tcp".
	Links []string `json:"links"`
	// Transport is the transport of the whole communicator, in the words of Rule: "inproc" (also for a rank that is
	// alone), "shm", "tcp", "rdma", or "mixed" if only some ranks share memory.
	Transport string `json:"transport"`
}

// Topology returns how the ranks of c are connected. All ranks see the same hosts and transport.
func (c *Comm) Topology() Topology {
	if c == nil {
		c = new(Comm)
	}
	t := Topology{Links: make([]string, c.Size()), Transport: c.exec.Carrier}
	hosts := make(map[string]int)
	for rank := range c.Size() {
		host, link := c.place(rank)
		at, known := hosts[host]
		if !known {
			at = len(t.Hosts)
			hosts[host] = at
			t.Hosts = append(t.Hosts, nil)
		}
		t.Hosts[at], t.Links[rank] = append(t.Hosts[at], rank), link
	}
	return t
}

// place returns a name for rank's host, and how this rank talks to it.
func (c *Comm) place(rank int) (host, link string) {
	host, link = "here", carriedInside
	if c.world != nil && c.world.locate != nil {
		host, link = c.world.locate(c.process(rank))
	}
	if rank == c.Rank() {
		link = "self"
	}
	return host, link
}

// String returns one line: "2 hosts: [0 1] [2 3]; shm to [1]; tcp to [2 3]".
func (t Topology) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d hosts:", len(t.Hosts))
	if len(t.Hosts) == 1 {
		b.Reset()
		b.WriteString("1 host:")
	}
	for _, ranks := range t.Hosts {
		fmt.Fprint(&b, " ", ranks)
	}
	for _, link := range slices.Compact(slices.Sorted(slices.Values(t.Links))) {
		if link != "self" {
			fmt.Fprintf(&b, "; %s to %v", link, t.by(link))
		}
	}
	return b.String()
}

// by returns the ranks that this one reaches by that link.
func (t Topology) by(link string) (ranks []int) {
	for rank, l := range t.Links {
		if l == link {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}
