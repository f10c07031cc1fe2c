package fast

import (
	"cmp"
	"errors"
	"net/netip"
	"os"
	"time"

	"github.com/collgen/collgen/fast/internal/bootstrap"
	"github.com/collgen/collgen/fast/internal/launch"
	"github.com/collgen/collgen/fast/internal/secure"
)

// Launch is what the environment says of this process's place in a job: which launcher started it, as which rank, and
// how it finds and talks to the others.
type Launch struct {
	// Launcher is who has set the rank and the size: "COLL_*" (collrun does), "torchrun", "Open MPI", "PMI-1" (Hydra,
	// and srun --mpi=pmi2), "Slurm" or "Kubernetes".
	Launcher string `json:"launcher"`
	Rank     int    `json:"rank"`
	Size     int    `json:"size"`
	// LocalRank is the rank among those of this host, and LocalSize their number; -1: nothing says.
	LocalRank int `json:"localRank"`
	LocalSize int `json:"localSize"`
	// Job is the job's name, and Epoch the number of the attempt at it.
	Job   string `json:"job"`
	Epoch uint32 `json:"epoch"`
	// Store is an address for WithStoreAddress, or "pmi": the launcher's own. "": nothing says where ranks find each
	// other; Reason says what to do about it.
	Store string `json:"store"`
	// The job's secret is in the file SecretFile, or comes from the descriptor SecretFD; "" and -1: nothing says, so
	// the store has to have it.
	SecretFile string `json:"secretFile"`
	SecretFD   int    `json:"secretFD"`
	// The rest is for WithTransport, WithInterface, WithRDMADevice, WithEncryption, WithHeartbeatTimeout (0: nothing
	// says), WithTraceDir, WithEventDir, WithTuningFile, WithoutCMA and WithSlowCall (0: nothing says). Host names this
	// host, in place of what the system says.
	Transport        string        `json:"transport"`
	Interface        string        `json:"interface"`
	RDMA             string        `json:"rdma"`
	Host             string        `json:"host"`
	Encrypt          bool          `json:"encrypt"`
	HeartbeatTimeout time.Duration `json:"heartbeatTimeout"` // in nanoseconds
	TraceDir         string        `json:"traceDir"`
	EventDir         string        `json:"eventDir"`
	Tune             string        `json:"tune"`
	NoCMA            bool          `json:"noCMA"`
	Slow             time.Duration `json:"slow"` // in nanoseconds
	// Reason says in words what counted, and why.
	Reason string `json:"reason"`
}

// ErrNoLauncher is the error of Detect in a process that no launcher has started, which may then use Run.
var ErrNoLauncher = launch.ErrNobody

// Detect returns what FromEnv finds in the environment. Launchers are looked for in this order, and the first that has
// set all of its variables counts:
//
//   - COLL_RANK and COLL_SIZE, which collrun sets;
//   - torchrun: RANK and WORLD_SIZE;
//   - Open MPI: OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE;
//   - PMI-1: PMI_FD, PMI_RANK and PMI_SIZE, as of MPICH's mpiexec, and srun --mpi=pmi2;
//   - a step of Slurm: SLURM_STEP_ID, SLURM_PROCID and SLURM_STEP_NUM_TASKS, and never variables of the job, which an
//     sbatch script itself has;
//   - an indexed job of Kubernetes: JOB_COMPLETION_INDEX, and COLL_SIZE from the manifest.
//
// Whatever the launcher, these count if they are set: COLL_LOCAL_RANK, COLL_LOCAL_SIZE, COLL_JOB, COLL_EPOCH,
// COLL_STORE, COLL_SECRET_FILE, COLL_SECRET_FD, COLL_TRANSPORT, COLL_INTERFACE, COLL_RDMA, COLL_HOST, COLL_ENCRYPT (1
// or 0), COLL_HEARTBEAT_TIMEOUT (such as 2s), COLL_TRACE and COLL_EVENTS (directories), COLL_TUNE (a file, or auto:
// see TunedFile), COLL_NO_CMA (1 or 0) and COLL_SLOW_CALL (such as 10s).
//
// Detect fails, naming the variables, with ErrNoLauncher if nothing says that this process is a rank, and with another
// error if a variable has no meaning, or one of COLL_RANK and COLL_SIZE is missing.
func Detect() (Launch, error) {
	l, err := launch.Detect(os.Getenv)
	return Launch(l), err
}

// FromEnv takes everything from the environment, as launchers set it: see Detect. A variable without a meaning
// makes Init and Join fail, with an error that names it. If no launcher has set the rank and WithRank is absent, only
// Init fails: Join needs no rank, and the other variables COLL_* count for it.
func FromEnv() []InitOption { return FromVariables(os.Getenv) }

// FromVariables is FromEnv with other variables than those of this process, of which getenv returns the values; "": it
// is not set.
func FromVariables(getenv func(name string) string) []InitOption {
	found, err := launch.Detect(getenv)
	l := Launch(found)
	var rankErr error
	if errors.Is(err, ErrNoLauncher) || errors.Is(err, launch.ErrIncomplete) {
		rankErr = err
		var s launch.Launch
		s, err = launch.Settings(getenv)
		l = Launch(s)
	}
	if err != nil {
		return []InitOption{func(p *initConfig) { p.err, p.RankErr = cmp.Or(p.err, err), rankErr }}
	}
	return append(l.options(), func(p *initConfig) { p.RankErr = rankErr })
}

// options returns those of Init that say the same.
func (l Launch) options() []InitOption {
	opts := []InitOption{
		WithRank(l.Rank, l.Size), WithJob(l.Job), WithEpoch(l.Epoch), WithTransport(l.Transport), WithInterface(l.Interface),
		WithRDMADevice(l.RDMA),
		WithTraceDir(l.TraceDir), WithEventDir(l.EventDir), WithTuningFile(l.Tune), WithStoreAddress(l.Store),
		func(p *initConfig) { p.Host, p.NoStoreReason = l.Host, l.Reason },
	}
	if l.SecretFile != "" {
		opts = append(opts, WithSecretFile(l.SecretFile))
	}
	if l.SecretFD >= 0 {
		opts = append(opts, withSecretFrom(func() (secure.Secret, error) { return secure.ReadSecretFD(l.SecretFD) }))
	}
	if l.Encrypt {
		opts = append(opts, WithEncryption())
	}
	if l.NoCMA {
		opts = append(opts, WithoutCMA())
	}
	if l.HeartbeatTimeout > 0 {
		opts = append(opts, WithHeartbeatTimeout(l.HeartbeatTimeout))
	}
	if l.Slow > 0 {
		opts = append(opts, WithSlowCall(l.Slow))
	}
	return opts
}

// Interface is where a process listens for processes of other hosts, and why there.
type Interface struct {
	Name      string       `json:"name"` // of the system's interface
	Addresses []netip.Addr `json:"addresses"`
	Why       string       `json:"why"`
}

// ChooseInterface returns the interface on which a process that is launched like this listens. It fails if l.Interface
// is not an interface, network or address of this host.
//
// Without l.Interface, it is the address from which the system reaches the store. If the store has no address, or is on
// this host, it is the first interface that is up and has an address which other hosts may reach; bridges of containers
// come last. If there is no such interface, it is the loopback address, which serves no other host.
func (l Launch) ChooseInterface() (Interface, error) {
	i, err := bootstrap.ChooseInterface(l.Interface, l.Store)
	return Interface(i), err
}
