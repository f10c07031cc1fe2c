package mesh

import (
	"net"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/simulated"
)

// cabled is a simulated job, of one process for each freeze time: ends[i][j] is i's end of the link to j.
func cabled(t *testing.T, capacity int, freeze ...time.Duration) (job []*Mesh, processes []*simulated.Process, ends [][]*simulated.End) {
	b := newBoard()
	wires := make([][]net.Conn, len(freeze))
	for i := range freeze {
		processes, ends = append(processes, new(simulated.Process)), append(ends, make([]*simulated.End, len(freeze)))
		wires[i] = make([]net.Conn, len(freeze))
		for j := range i { // the processes are stopped by Wired's pause
			ends[i][j], ends[j][i] = simulated.NewLink(new(simulated.Process), new(simulated.Process),
				simulated.Weather{Capacity: capacity}, 0, 0)
			wires[i][j], wires[j][i] = ends[i][j].Conn(), ends[j][i].Conn()
		}
	}
	for i := range freeze {
		m, err := Wired(b.config(i, len(freeze)), freeze, wires[i], processes[i].Pass)
		if err != nil {
			t.Fatal(err)
		}
		job = append(job, m)
	}
	return job, processes, ends
}
