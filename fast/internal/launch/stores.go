package launch

import (
	"fmt"
	"hash/fnv"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// noStore returns no address, and what to do, for a launcher that does not say where rank 0 is.
func noStore(_ *environment, l *Launch) (string, string) {
	return "", "ranks are, or may be, on several hosts, and " + l.Launcher + " does not say where rank 0 is: set " +
		"COLL_STORE (tcp://host:port with the host of rank 0, or file:///directory that all hosts have) and " +
		"COLL_SECRET_FILE on all ranks"
}

// masterIsHere returns the number of ranks on this host for variables of torchrun that do not include it. It returns
// the size of the job if no other host can reach the address of rank 0, and -1 otherwise.
func masterIsHere(e *environment, l *Launch) int {
	master := e.get("MASTER_ADDR")
	if a, err := netip.ParseAddr(master); master == "localhost" || err == nil && a.IsLoopback() {
		return l.Size
	}
	return -1
}

// masterStore returns the address where rank 0 listens under torchrun. If torchrun keeps a store of its own at
// MASTER_PORT, it is the port after it.
func masterStore(e *environment, _ *Launch) (address, why string) {
	host, port := e.text("MASTER_ADDR"), e.number("MASTER_PORT", 1, 65534)
	why = "MASTER_ADDR and MASTER_PORT"
	if e.flag("TORCHELASTIC_USE_AGENT_STORE") {
		port++
		why += ", and the port after it, because torchrun itself has MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE)"
	}
	return tcpAddress(host, port), "rank 0 listens at " + why
}

func tcpAddress(host string, port int) string {
	return "tcp://" + net.JoinHostPort(host, strconv.Itoa(port))
}

// text returns a variable that must be set.
func (e *environment) text(name string) string {
	if e.get(name) == "" {
		e.fail("%s is not set", name)
	}
	return e.get(name)
}

// stepTasksHere returns how many of the step's ranks are on this node. Slurm lists them as in 2(x3),1, which means two
// ranks on each of three nodes and one on the fourth. It returns -1 if that is unknown.
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

// Ports for rank 0 of a step. The port is a hash of the step's number, so that steps on one node use different ones.
const firstPort, ports = 23000, 8192

// stepStore returns the address of rank 0 under Slurm: the first node of the step.
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

// firstNode returns the first node of a list such as node[03-05,7],other, or "" if there is none.
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

// podPort is the port of rank 0 in a Kubernetes job. Each pod has its own ports, so it can be fixed.
const podPort = 29511

// podJob returns the job's name. A pod's host name consists of the name of its job and its index.
func podJob(e *environment) string {
	name, _ := strings.CutSuffix(e.get("HOSTNAME"), "-"+e.get("JOB_COMPLETION_INDEX"))
	return name
}

// podStore returns the address of the pod of rank 0 in the headless service COLL_SERVICE.
func podStore(e *environment, _ *Launch) (address, why string) {
	job, service := podJob(e), e.get("COLL_SERVICE")
	if service == "" || job == "" || job == e.get("HOSTNAME") {
		return "", "nothing says where rank 0 is: set COLL_SERVICE to the name of the headless service of the job's " +
			"pods, whose subdomain has to be that name, or set COLL_STORE"
	}
	return tcpAddress(job+"-0."+service, podPort), "rank 0 is the pod " + job + "-0 of the service " + service
}
