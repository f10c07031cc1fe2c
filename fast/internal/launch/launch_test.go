package launch

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// variables is an environment.
type variables map[string]string

func (v variables) get(name string) string { return v[name] }

// set returns the environment that a text says: name=value, separated by spaces.
func set(text string) variables {
	v := make(variables)
	for field := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(field, "=")
		v[name] = value
	}
	return v
}

// and returns v with the variables of more, which count.
func (v variables) and(more variables) variables {
	all := maps.Clone(v)
	maps.Copy(all, more)
	return all
}

func (v variables) with(text string) variables { return v.and(set(text)) }

// What launchers set for rank 1 of 4, as far as it matters.
var (
	collrun = set(`COLL_RANK=1 COLL_SIZE=4 COLL_LOCAL_RANK=1 COLL_LOCAL_SIZE=4 COLL_JOB=collrun-X COLL_STORE=local
		COLL_SECRET_FILE=/s`)
	torchrun = set(`RANK=1 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4 MASTER_ADDR=node0 MASTER_PORT=29400
		TORCHELASTIC_RUN_ID=id TORCHELASTIC_RESTART_COUNT=2 TORCHELASTIC_USE_AGENT_STORE=True`)
	torchrunOnTwo = torchrun.with("LOCAL_WORLD_SIZE=2")
	torchrunAlone = torchrunOnTwo.with("TORCHELASTIC_USE_AGENT_STORE=False")
	byHand        = set("RANK=1 WORLD_SIZE=4 MASTER_ADDR=::1 MASTER_PORT=1")
	openMPI       = set(`OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1
		OMPI_COMM_WORLD_LOCAL_SIZE=4 PMIX_NAMESPACE=123`)
	openMPIOnTwo = openMPI.with("OMPI_COMM_WORLD_LOCAL_SIZE=2")
	hydra        = set("PMI_FD=7 PMI_RANK=1 PMI_SIZE=4 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2")
	batch        = set(`SLURM_JOB_ID=9 SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0
		SLURM_TASKS_PER_NODE=4`)
	step = batch.with(`SLURM_STEP_ID=3 SLURM_PROCID=1 SLURM_LOCALID=1 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=2
		SLURM_STEP_TASKS_PER_NODE=3,1 SLURM_STEP_NODELIST=n[08-09]`)
	pmi2 = step.with("PMI_FD=7 PMI_RANK=1 PMI_SIZE=4 PMI_JOBID=9.3")
	pod  = set("JOB_COMPLETION_INDEX=1 COLL_SIZE=4 COLL_SERVICE=ranks HOSTNAME=train-1")
)

func TestDetect(t *testing.T) {
	if !hasLocal {
		t.Skip("the local store is for Linux")
	}
	const id = "torchrun-id-node0-29400"
	everything := pmi2.and(torchrun).and(openMPI).and(pod).and(collrun)
	for name, c := range map[string]struct {
		env                  variables
		launcher             string
		localRank, localSize int
		job, store           string
		epoch                uint32
	}{
		"collrun":                  {collrun, "COLL_*", 1, 4, "collrun-X", Local, 0},
		"torchrun":                 {torchrun, "torchrun", 1, 4, id, Local, 2},
		"torchrun on two hosts":    {torchrunOnTwo, "torchrun", 1, 2, id, "tcp://node0:29401", 0},
		"torchrun without a store": {torchrunAlone, "torchrun", 1, 2, id, "tcp://node0:29400", 0},
		"by hand":                  {byHand, "torchrun", -1, 4, "torchrun-::1-1", Local, 0},
		"by hand, on two": {byHand.with("MASTER_ADDR=::2"), "torchrun", -1, -1, "torchrun-::2-1", "tcp://[::2]:1",
			0},
		"Open MPI":              {openMPI, "Open MPI", 1, 4, "openmpi-123", Local, 0},
		"Open MPI on two hosts": {openMPIOnTwo, "Open MPI", 1, 2, "openmpi-123", "", 0},
		"Hydra":                 {hydra, "PMI-1", 1, 2, "pmi", PMI, 0},
		"srun --mpi=pmi2":       {pmi2, "PMI-1", -1, -1, "pmi-9.3", PMI, 0},
		"srun":                  {step.with("SLURM_RESTART_COUNT=1"), "Slurm", 1, 3, "slurm-9-3", "tcp://n08:27967", 1},
		"srun on one node":      {step.with("SLURM_STEP_NUM_NODES=1"), "Slurm", 1, 4, "slurm-9-3", Local, 0},
		"Kubernetes":            {pod, "Kubernetes", -1, -1, "train", "tcp://train-0.ranks:29511", 0},
		"Kubernetes, another store": {pod.with("COLL_STORE=tcp://a:1 COLL_JOB=j"), "Kubernetes", -1, -1, "j", "tcp://a:1",
			0},
		"torchrun in a step of Slurm": {step.and(torchrun), "torchrun", 1, 4, id, Local, 2},
		"collrun in everything":       {everything, "COLL_*", 1, 4, "collrun-X", Local, 0},
	} {
		got, err := Detect(c.env.get)
		if err != nil || got.Reason == "" {
			t.Errorf("%s: %q, %v", name, got.Reason, err)
		}
		want := Launch{Launcher: c.launcher, Rank: 1, Size: 4, LocalRank: c.localRank, LocalSize: c.localSize, Job: c.job,
			Epoch: c.epoch, Store: c.store, SecretFile: c.env["COLL_SECRET_FILE"], SecretFD: -1, Reason: got.Reason}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestReason: who reads it finds what counted, what did not, and why the store is where it is.
func TestReason(t *testing.T) {
	for want, env := range map[string]variables{
		"torchrun set RANK=1 and WORLD_SIZE=4; variables of Slurm are set as": step.and(torchrun),
		"variables of Open MPI and Kubernetes are set":                        openMPI.and(pod).and(torchrun),
		"all ranks are on this host":                                          openMPI,
		"COLL_STORE says":                                                     collrun,
		"because torchrun itself has MASTER_PORT":                             torchrunOnTwo,
		"Open MPI does not say where rank 0 is: set COLL_STORE":               openMPIOnTwo,
		"set COLL_SERVICE":                                                    pod.with("COLL_SERVICE="),
		"a job of one rank needs no store":                                    set("RANK=0 WORLD_SIZE=1"),
		"rank 0 listens on the step's first node, at a port that follows":     step,
		"rank 0 is the pod train-0 of the service ranks":                      pod,
	} {
		got, err := Detect(env.get)
		if err != nil || !strings.Contains(got.Reason, want) {
			t.Errorf("%q, %v, want %q", got.Reason, err, want)
		}
	}
}

func TestDetectRefuses(t *testing.T) {
	for _, c := range []struct {
		env  variables
		want string
	}{
		{nil, "no launcher has set the rank: want COLL_RANK and COLL_SIZE"},
		{batch, "SLURM_PROCID is set, but not SLURM_STEP_NUM_TASKS and SLURM_STEP_ID, as Slurm would"},
		{set("RANK=1"), "no launcher has set the rank: want COLL_RANK and COLL_SIZE, or a start by collrun, torchrun, " +
			"mpirun, mpiexec, srun or an indexed job of Kubernetes (RANK is set, but not WORLD_SIZE, as torchrun would)"},
		{set("COLL_RANK=1"), "the rank is given in part: "},
		{set("COLL_SIZE=2"), "COLL_SIZE is set, but not COLL_RANK, as COLL_* would"},
		{set("JOB_COMPLETION_INDEX=1"), "JOB_COMPLETION_INDEX is set, but not COLL_SIZE"},
		{torchrun.with("RANK=4"), "RANK is 4, and WORLD_SIZE is 4"},
		{torchrun.with("RANK=-1"), `RANK is "-1", want a number from 0 to 65536`},
		{torchrun.with("RANK=one"), `RANK is "one"`},
		{torchrun.with("WORLD_SIZE=99999999999999999999"), "WORLD_SIZE is"},
		{torchrun.with("WORLD_SIZE=0"), `WORLD_SIZE is "0", want a number from 1`},
		{torchrun.with("LOCAL_RANK=x"), `LOCAL_RANK is "x"`},
		{torchrun.with("LOCAL_RANK=2 LOCAL_WORLD_SIZE=2"), "LOCAL_RANK is 2, and there are 2 ranks"},
		{torchrun.with("LOCAL_RANK=4 LOCAL_WORLD_SIZE="), "LOCAL_RANK is 4, and there are 4 ranks"},
		{torchrun.with("LOCAL_WORLD_SIZE=5"), "LOCAL_WORLD_SIZE says that 5 ranks are on this host, and"},
		{torchrunOnTwo.with("MASTER_ADDR="), "MASTER_ADDR is not set"},
		{torchrunOnTwo.with("MASTER_PORT=http"), `MASTER_PORT is "http"`},
		{torchrunOnTwo.with("TORCHELASTIC_USE_AGENT_STORE=maybe"), "want 1 or 0"},
		{torchrun.with("COLL_EPOCH=-1"), "COLL_EPOCH"},
		{torchrun.with("COLL_SECRET_FILE=/s COLL_SECRET_FD=3"), "both COLL_SECRET_FILE and COLL_SECRET_FD"},
		{torchrun.with("COLL_SECRET_FD=x"), "COLL_SECRET_FD"},
		{torchrun.with("COLL_HEARTBEAT_TIMEOUT=2"), `COLL_HEARTBEAT_TIMEOUT is "2", want a duration such as 2s`},
		{torchrun.with("COLL_HEARTBEAT_TIMEOUT=-2s"), "COLL_HEARTBEAT_TIMEOUT"},
		{torchrun.with("COLL_ENCRYPT=maybe"), "COLL_ENCRYPT"},
		{step.with("SLURM_STEP_NODELIST=["), "SLURM_STEP_NODELIST"},
	} {
		if _, err := Detect(c.env.get); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestSettings: what COLL_* says counts with every launcher.
func TestSettings(t *testing.T) {
	more := set(`COLL_TRANSPORT=tcp COLL_INTERFACE=eth0 COLL_RDMA=rxe0 COLL_HOST=h COLL_ENCRYPT=1 COLL_HEARTBEAT_TIMEOUT=5s COLL_TRACE=/t COLL_EVENTS=/e COLL_TUNE=/u COLL_NO_CMA=1 COLL_SLOW_CALL=3s COLL_SECRET_FD=3
		COLL_EPOCH=8 COLL_JOB=j COLL_STORE=file:///x COLL_LOCAL_RANK=1 COLL_LOCAL_SIZE=2`)
	for _, env := range []variables{torchrun, openMPI, hydra, step, pod} {
		got, err := Detect(env.and(more).get)
		want := Launch{Launcher: got.Launcher, Rank: 1, Size: 4, LocalRank: 1, LocalSize: 2, Job: "j", Epoch: 8,
			Store: "file:///x", SecretFD: 3, Transport: "tcp", Interface: "eth0", RDMA: "rxe0", Host: "h", Encrypt: true,
			HeartbeatTimeout: 5 * time.Second, TraceDir: "/t", EventDir: "/e", Tune: "/u", NoCMA: true, Slow: 3 * time.Second,
			Reason: got.Reason}
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%v %s", err, d)
		}
	}
}

func TestFirstNode(t *testing.T) {
	for list, want := range map[string]string{
		"n1": "n1", "n1,n2": "n1", "n[01-03,7]": "n01", "n[5,7],m1": "n5", "a,b[1-2]": "a", "n[1-2]-x,m": "n1-x",
		"": "", "[": "", "n[": "", "n[]": "", "n[1-2][3-4]": "", "a[1-2]b[": "",
	} {
		if got := firstNode(list); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}

func TestStepTasksHere(t *testing.T) {
	for _, c := range []struct {
		list, node string
		want       int
	}{
		{"4", "0", 4}, {"2(x3),1", "2", 2}, {"2(x3),1", "3", 1}, {"2(x3),1", "4", -1}, {"3,1", "1", 1},
		{"", "0", -1}, {"x", "0", -1}, {"2(x", "0", -1}, {"2(x-1)", "0", -1}, {"99", "0", -1}, {"-1", "0", -1}, {"4", "", -1},
	} {
		e := &environment{get: variables{"SLURM_NODEID": c.node, "SLURM_STEP_TASKS_PER_NODE": c.list}.get}
		if got := stepTasksHere(e, &Launch{Size: 7}); got != c.want || e.err != nil {
			t.Errorf("%+v: %d, %v", c, got, e.err)
		}
	}
}

// FuzzDetect: whatever is in the environment, what comes out can be used.
func FuzzDetect(f *testing.F) {
	f.Add("RANK=1 WORLD_SIZE=4 MASTER_ADDR=[ MASTER_PORT=1")
	f.Add("SLURM_PROCID=1 SLURM_STEP_ID=1 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NODELIST=n[1,] SLURM_NODEID=1 " +
		"SLURM_STEP_TASKS_PER_NODE=1(x1),2")
	f.Add("JOB_COMPLETION_INDEX=3 COLL_SIZE=4 HOSTNAME=-3 COLL_SERVICE=x COLL_HEARTBEAT_TIMEOUT=1h")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Detect(set(text).get)
		if err == nil && (l.Rank < 0 || l.Rank >= l.Size || l.Size > MaxSize || l.LocalSize > l.Size ||
			l.HeartbeatTimeout < 0) {
			t.Errorf("%+v", l)
		}
	})
}
