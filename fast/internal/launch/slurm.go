package launch

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// stepTasksHere returns the number of the step's ranks on this node: the entry of this node in a list such as 2(x3),1,
// which is of two ranks on each of three nodes and one on the fourth.
func stepTasksHere(e *environment, l *Launch) int {
	if e.get("SLURM_STEP_NUM_NODES") == "1" {
		return l.Size
	}
	if e.get("SLURM_NODEID") == "" {
		return -1
	}
	node := e.number("SLURM_NODEID", 0, MaxSize)
	for entry := range strings.SplitSeq(e.get("SLURM_STEP_TASKS_PER_NODE"), ",") {
		tasks, times, repeated := strings.Cut(strings.TrimSuffix(entry, ")"), "(x")
		n, err := strconv.Atoi(tasks)
		nodes := 1
		if repeated && err == nil {
			nodes, err = strconv.Atoi(times)
		}
		if err != nil || n < 1 || n > l.Size || nodes < 1 {
			return -1
		}
		if node < nodes {
			return n
		}
		node -= nodes
	}
	return -1
}

// Ports for rank 0 of a step: which one, follows from the step, so that steps on one node get along.
const firstPort, ports = 23000, 8192

// stepStore is Slurm's: rank 0 is on the first node of the step.
func stepStore(e *environment, _ *Launch) (address, why string) {
	node := firstNode(e.get("SLURM_STEP_NODELIST"))
	if node == "" {
		e.fail("SLURM_STEP_NODELIST is %q, want a list of nodes", e.get("SLURM_STEP_NODELIST"))
	}
	h := fnv.New32a()
	fmt.Fprint(h, e.get("SLURM_JOB_ID"), ".", e.get("SLURM_STEP_ID"))
	why = "rank 0 listens on the step's first node, at a port that follows from the step's number; that needs a secret, " +
		"which srun --mpi=pmi2 has for its processes: otherwise COLL_SECRET_FILE"
	return tcpAddress(node, firstPort+int(h.Sum32()%ports)), why
}

// firstNode returns the first of a list such as node[03-05,7],other. "" if there is none.
func firstNode(list string) string {
	prefix, rest, many := strings.Cut(list, "[")
	if first, _, several := strings.Cut(prefix, ","); several || !many {
		return first
	}
	end := strings.IndexAny(rest, "-,]")
	if end < 1 {
		return ""
	}
	_, after, _ := strings.Cut(rest, "]")
	if strings.Contains(strings.SplitN(after, ",", 2)[0], "[") { // of several dimensions
		return ""
	}
	return prefix + rest[:end] + strings.SplitN(after, ",", 2)[0]
}
