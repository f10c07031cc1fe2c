package launch

import (
	"strings"
)

// podPort is where rank 0 of a job of Kubernetes listens: in its pod, ports are its own.
const podPort = 29511

// podJob returns the job's name: a pod's host name is that of its job, and its index.
func podJob(e *environment) string {
	name, _ := strings.CutSuffix(e.get("HOSTNAME"), "-"+e.get("JOB_COMPLETION_INDEX"))
	return name
}

// podStore returns where the headless service that COLL_SERVICE names has the pod of rank 0.
func podStore(e *environment, _ *Launch) (address, why string) {
	job, service := podJob(e), e.get("COLL_SERVICE")
	if service == "" || job == "" || job == e.get("HOSTNAME") {
		return "", "nothing says where rank 0 is: set COLL_SERVICE to the name of the headless service of the job's pods, whose " +
			"subdomain has to be that name, or set COLL_STORE"
	}
	return tcpAddress(job+"-0."+service, podPort), "rank 0 is the pod " + job + "-0 of the service " + service
}
