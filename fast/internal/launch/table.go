package launch

import "slices"

// launcher is what a launcher sets in the environment of the processes that it starts.
type launcher struct {
	name  string // for people
	short string // begins the names of jobs
	// The variables with the rank and the size, which have to be set, and others that have to be set as well.
	rank, size string
	also       []string
	// The variables with the rank among those of this host, and their number, if there are such variables; or else how
	// their number is found, -1 if it is not.
	localRank, localSize string
	localSizeOf          func(*environment, *Launch) int
	// The variables whose values, those that are set, name the job; or how it is named.
	job   []string
	jobOf func(*environment) string
	// The variable that counts the attempts at the job. With oneHost it can be believed only if all ranks are on one
	// host.
	epoch   string
	oneHost bool
	// Where ranks on several hosts find each other, and why there; "": nowhere, and what to do about it.
	storeOf func(*environment, *Launch) (address, why string)
	// keeps: the launcher has a store of its own, whether ranks are on one host or several.
	keeps bool
}

// launchers are those that are known, in the order in which they count. It goes from who says explicitly what this
// process is to who says it in passing: torchrun under Slurm starts several ranks in one step, so Slurm's rank would be
// wrong, and mpiexec in a pod likewise.
var launchers = []launcher{
	{
		name: "COLL_*", short: "coll", rank: "COLL_RANK", size: "COLL_SIZE",
		localRank: "COLL_LOCAL_RANK", localSize: "COLL_LOCAL_SIZE", storeOf: noStore,
	},
	{
		name: "torchrun", short: "torchrun", rank: "RANK", size: "WORLD_SIZE",
		localRank: "LOCAL_RANK", localSize: "LOCAL_WORLD_SIZE", localSizeOf: masterIsHere,
		// Each agent counts on its own, and starts its ranks again, without counting, when another agent's fail: agents
		// do not agree on the count.
		job: []string{"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT"}, epoch: "TORCHELASTIC_RESTART_COUNT",
		oneHost: true,
		storeOf: masterStore,
	},
	{
		name: "Open MPI", short: "openmpi", rank: "OMPI_COMM_WORLD_RANK", size: "OMPI_COMM_WORLD_SIZE",
		localRank: "OMPI_COMM_WORLD_LOCAL_RANK", localSize: "OMPI_COMM_WORLD_LOCAL_SIZE",
		job: []string{"PMIX_NAMESPACE"}, storeOf: noStore,
	},
	{
		// MPICH's Hydra and those that took it over, and srun --mpi=pmi2, which speaks PMI-1 too.
		name: "PMI-1", short: "pmi", rank: "PMI_RANK", size: "PMI_SIZE", also: []string{"PMI_FD"},
		localRank: "MPI_LOCALRANKID", localSize: "MPI_LOCALNRANKS", job: []string{"PMI_JOBID"}, keeps: true,
	},
	{
		// Only what is set for the processes of a step counts. An sbatch script itself finds SLURM_NTASKS, which is the
		// size of the job and says nothing of how many processes were started, and a SLURM_PROCID of 0, which is its
		// own: it would be taken for the first of many ranks that nobody starts.
		name: "Slurm", short: "slurm", rank: "SLURM_PROCID", size: "SLURM_STEP_NUM_TASKS", also: []string{"SLURM_STEP_ID"},
		localRank: "SLURM_LOCALID", localSizeOf: stepTasksHere,
		job: []string{"SLURM_JOB_ID", "SLURM_STEP_ID"}, epoch: "SLURM_RESTART_COUNT", storeOf: stepStore,
	},
	{
		name: "Kubernetes", short: "kubernetes", rank: "JOB_COMPLETION_INDEX", size: "COLL_SIZE",
		jobOf: podJob, storeOf: podStore,
	},
}

// needs returns all variables that have to be set.
func (r *launcher) needs() []string { return append([]string{r.rank, r.size}, r.also...) }

// fits reports whether the launcher has started this process.
func (r *launcher) fits(e *environment) bool {
	return !slices.ContainsFunc(r.needs(), func(name string) bool { return e.get(name) == "" })
}

// attempt returns the variable that counts the attempts, if it can be believed.
func (r *launcher) attempt(l *Launch) string {
	if r.oneHost && l.LocalSize != l.Size {
		return ""
	}
	return r.epoch
}
