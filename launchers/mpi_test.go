package launchers

import (
	"os"
	"testing"
)

// TestCollrun needs nothing installed.
func TestCollrun(t *testing.T) {
	wantAnswers(t, here(t).output(program("collrun"), "-raw", "-n", "3", program("rollcall")), []int{0, 1, 2})
}

// TestOpenMPI has variables that tell the ranks apart, and no store.
func TestOpenMPI(t *testing.T) {
	needs(t, "mpirun.openmpi")
	p := here(t)
	args := []string{"mpirun.openmpi", "--oversubscribe", "-n", "3"}
	if os.Geteuid() == 0 {
		args = append(args, "--allow-run-as-root")
	}
	wantAnswers(t, p.output(append(args, program("rollcall"))...), []int{0, 1, 2})
}

// TestHydra is MPICH's launcher, with a store of its own (PMI-1).
func TestHydra(t *testing.T) {
	needs(t, "mpiexec.hydra")
	wantAnswers(t, here(t).output("mpiexec.hydra", "-n", "3", program("rollcall")), []int{0, 1, 2})
}
