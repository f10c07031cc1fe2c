package launchers

import (
	"os"
	"regexp"
	"testing"
)

// under runs rollcall on three ranks of this host under a launcher, and collrun doctor, which has to know that
// launcher.
func under(p *place, name string, launcher ...string) {
	p.t.Helper()
	wantAnswers(p.t, p.output(append(launcher, program("rollcall"))...), []int{0, 1, 2})
	said := p.output(append(launcher, program("collrun"), "doctor")...)
	if n := len(regexp.MustCompile(`(?m)^(\[\d+\] )?launcher +`+regexp.QuoteMeta(name)+`: `).FindAllString(said,
		-1)); n != 3 {
		p.t.Errorf("%d ranks know that %s has started them:\n%s", n, name, said)
	}
}

// TestCollrun needs nothing installed.
func TestCollrun(t *testing.T) {
	under(here(t), "COLL_*", program("collrun"), "-raw", "-n", "3")
}

// TestOpenMPI has variables that tell the ranks apart, and no store.
func TestOpenMPI(t *testing.T) {
	needs(t, "mpirun.openmpi")
	launcher := []string{"mpirun.openmpi", "--oversubscribe", "-n", "3"}
	if os.Geteuid() == 0 {
		launcher = append(launcher, "--allow-run-as-root")
	}
	under(here(t), "Open MPI", launcher...)
}

// TestHydra is MPICH's launcher, with a store of its own (PMI-1).
func TestHydra(t *testing.T) {
	needs(t, "mpiexec.hydra")
	under(here(t), "PMI-1", "mpiexec.hydra", "-n", "3")
}
