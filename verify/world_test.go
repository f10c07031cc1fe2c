package verify_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/selection"
)

// world runs programs on the processes of one job.
type world interface {
	// run has each process make its part of a program. The results are by process, and by the number of the call.
	run(programs []processProgram) ([]map[int]rankResult, error)
	// over is what selection tables see of calls of members, with an op that commutes.
	over(members []int) selection.Call
}

// patience is how long the calls of one run may take before the test calls it a hang: long, for a machine with a
// quarter of a processor is slow.
const patience = 10 * time.Minute

// goroutines is a world whose processes are goroutines of this one, others for each program.
type goroutines int

func (goroutines) over(members []int) selection.Call {
	return selection.Call{Transport: "inproc", Size: len(members), Local: len(members), Commutative: true}
}

func (n goroutines) run(programs []processProgram) ([]map[int]rankResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	results := make([]map[int]rankResult, n)
	return results, fast.Run(ctx, int(n), func(ctx context.Context, c *fast.Comm) error {
		comms, err := divide(ctx, c)
		if err == nil {
			results[c.Rank()] = perform(ctx, comms, &programs[c.Rank()])
			err = closeAll(comms[1:]) // the first is Run's
		}
		return err
	})
}

// transport is a way in which processes talk.
type transport struct {
	name string
	most int                            // processes
	env  func(process int) []string     // that makes them talk so
	link func(process, peer int) string // as fast.Topology has it
	host func(process int) string
}

// over returns what selection tables see of calls of members, with an op that commutes.
func (by *transport) over(members []int) selection.Call {
	c := selection.Call{Transport: "inproc", Size: len(members), Commutative: true}
	onHost, hosts := map[string]int{}, make([]string, len(members))
	for i, process := range members {
		host := by.host(process)
		onHost[host]++
		hosts[i] = host
		c.PerHost = max(c.PerHost, onHost[host])
		for _, peer := range members[:i] {
			if link := by.link(process, peer); c.Transport == "inproc" || c.Transport == link {
				c.Transport = link
			} else {
				c.Transport = "mixed"
			}
		}
	}
	c.Local = localOn(hosts)
	return c
}

// localOn returns how many ranks each host has, one after the other, the last host maybe fewer; 0: hosts are not like
// that.
func localOn(hosts []string) int {
	n := 1
	for n < len(hosts) && hosts[n] == hosts[0] {
		n++
	}
	seen := map[string]bool{}
	for block := range slices.Chunk(hosts, n) {
		if seen[block[0]] || slices.ContainsFunc(block, func(host string) bool { return host != block[0] }) {
			return 0
		}
		seen[block[0]] = true
	}
	return n
}

var transports = []transport{
	{"shm", 9, environment(), everywhere("shm"), oneHost},
	{"tcp", 9, environment("COLL_TRANSPORT=tcp"), everywhere("tcp"), oneHost},
	{"encrypted", 5, environment("COLL_TRANSPORT=tcp", "COLL_ENCRYPT=1"), everywhere("tcp"), oneHost},
	{"mixed", 7, func(process int) []string { return []string{"COLL_HOST=" + pretendedHost(process)} }, byHost,
		pretendedHost},
}

func environment(variables ...string) func(int) []string {
	return func(int) []string { return variables }
}

func everywhere(link string) func(int, int) string {
	return func(int, int) string { return link }
}

func oneHost(int) string { return "" }

// pretendedHost has processes believe that every second one is on another host.
func pretendedHost(process int) string { return fmt.Sprint("host-", process%2) }

func byHost(process, peer int) string {
	if pretendedHost(process) == pretendedHost(peer) {
		return "shm"
	}
	return "tcp"
}
