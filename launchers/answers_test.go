package launchers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answers returns what the ranks of rollcall print if those in each of hosts share one.
func answers(hosts ...[]int) (lines []string) {
	size := len(slices.Concat(hosts...))
	for _, host := range hosts {
		for _, rank := range host {
			lines = append(lines, fmt.Sprintf("rank %d of %d: %s\n", rank, size, topology(rank, hosts)))
		}
	}
	slices.Sort(lines)
	return lines
}

// topology returns what rank has to see of the hosts: its neighbours through shared memory, and the others over TCP.
func topology(rank int, hosts [][]int) string {
	text := fmt.Sprintf("%d hosts:", len(hosts))
	if len(hosts) == 1 {
		text = "1 host:"
	}
	var near, far []int
	for _, host := range hosts {
		text += fmt.Sprint(" ", host)
		if slices.Contains(host, rank) {
			near = slices.DeleteFunc(slices.Clone(host), func(r int) bool { return r == rank })
		} else {
			far = append(far, host...)
		}
	}
	if len(near) > 0 {
		text += fmt.Sprintf("; shm to %v", near)
	}
	slices.Sort(far)
	if len(far) > 0 {
		text += fmt.Sprintf("; tcp to %v", far)
	}
	return text
}

// wantAnswers compares what the ranks of rollcall printed, in whatever order, with what they have to.
func wantAnswers(t *testing.T, printed string, hosts ...[]int) {
	t.Helper()
	if d := cmp.Diff(answers(hosts...), slices.Sorted(strings.Lines(printed))); d != "" {
		t.Error(d)
	}
}
