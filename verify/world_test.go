package verify_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/collgen/collgen/fast"
)

// world runs programs on the processes of one job.
type world interface {
	// run has each process make its part of a program. The results are by process, and by the number of the call.
	run(programs []processProgram) ([]map[int]rankResult, error)
	// over is how members talk, as one of selection.Transports.
	over(members []int) string
}

// patience is how long the calls of one run may take before the test calls it a hang.
const patience = time.Minute

// goroutines is a world whose processes are goroutines of this one, others for each program.
type goroutines int

func (goroutines) over([]int) string { return "inproc" }

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
}

// over is how members talk, as one of selection.Transports.
func (by *transport) over(members []int) string {
	var links []string
	for i, process := range members {
		for _, peer := range members[:i] {
			links = append(links, by.link(process, peer))
		}
	}
	slices.Sort(links)
	switch links = slices.Compact(links); len(links) {
	case 0:
		return "inproc"
	case 1:
		return links[0]
	}
	return "mixed"
}

var transports = []transport{
	{"shm", 9, environment(), everywhere("shm")},
	{"tcp", 9, environment("COLL_TRANSPORT=tcp"), everywhere("tcp")},
	{"encrypted", 5, environment("COLL_TRANSPORT=tcp", "COLL_ENCRYPT=1"), everywhere("tcp")},
	{"mixed", 7, func(process int) []string { return []string{"COLL_HOST=" + pretendedHost(process)} }, byHost},
}

func environment(variables ...string) func(int) []string {
	return func(int) []string { return variables }
}

func everywhere(link string) func(int, int) string {
	return func(int, int) string { return link }
}

// pretendedHost has processes believe that every second one is on another host.
func pretendedHost(process int) string { return fmt.Sprint("host-", process%2) }

func byHost(process, peer int) string {
	if pretendedHost(process) == pretendedHost(peer) {
		return "shm"
	}
	return "tcp"
}
