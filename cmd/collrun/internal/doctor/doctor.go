//go:build unix && !aix && !solaris

// Package doctor finds out what a program would find on this machine as a rank, and what it would use.
package doctor

// examinations are all examinations, in the order of the report.
var examinations = []func() []Finding{system, processors, openFiles, lockedMemory, sharedMemory, othersMemory,
	rdmaPorts, theJob}

// ProbeName is the Args[0] of a process that Examine starts, which has to call Probe. No command line can set it.
const ProbeName = "collrun: probe"

// Examine returns all findings.
func Examine() (found []Finding) {
	for _, examine := range examinations {
		found = append(found, examine()...)
	}
	return found
}
