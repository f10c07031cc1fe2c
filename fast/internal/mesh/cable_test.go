package mesh

import (
	"net"
	"testing"

	"github.com/collgen/collgen/fast/internal/simnet"
)

// cabled returns a simulated job, of so many processes: ends[i][j] is i's end of the link to j.
func cabled(t *testing.T, capacity, size int) (job []*Mesh, processes []*simnet.Process, ends [][]*simnet.End) {
	b := newBoard()
	wires := make([][]net.Conn, size)
	for i := range size {
		processes, ends = append(processes, new(simnet.Process)), append(ends, make([]*simnet.End, size))
		wires[i] = make([]net.Conn, size)
		for j := range i { // the processes are stopped by Wired's pause
			ends[i][j], ends[j][i] = simnet.NewLink(new(simnet.Process), new(simnet.Process),
				simnet.Weather{Capacity: capacity}, 0, 0)
			wires[i][j], wires[j][i] = ends[i][j].Conn(), ends[j][i].Conn()
		}
	}
	for i := range size {
		cfg := b.config(i, size)
		cfg.HeartbeatTimeout = freeze
		m, err := Wired(cfg, wires[i], processes[i].Pass)
		if err != nil {
			t.Fatal(err)
		}
		job = append(job, m)
	}
	return job, processes, ends
}
