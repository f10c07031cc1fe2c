package fast

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFrozenRankIsFenced stops a rank until the others have gone on without it: when it runs again, it does not go on
// alone nor get back in.
func TestFrozenRankIsFenced(t *testing.T) {
	for victim := range 3 {
		for _, over := range []string{"shm", "tcp"} {
			t.Run(fmt.Sprint(victim, " ", over), func(t *testing.T) {
				t.Parallel()
				j := newJob(t, 3, "survive")
				j.with = append(j.with, "COLL_TRANSPORT="+over, "COLL_HEARTBEAT_TIMEOUT=1s")
				all := j.start(0, 3)
				for _, p := range all {
					p.line(t)
				}
				time.Sleep(5 * time.Millisecond) // some calls
				if err := all[victim].Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				wantSurvivors(t, append(append([]*process(nil), all[:victim]...), all[victim+1:]...))
				if err := all[victim].Process.Signal(syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
				text := all[victim].line(t)
				for strings.HasPrefix(text, "shrinking") {
					text = all[victim].line(t)
				}
				if !strings.Contains(text, ErrFenced.Error()) {
					t.Errorf("it says %q", text)
				}
				j.end(all)
			})
		}
	}
}
