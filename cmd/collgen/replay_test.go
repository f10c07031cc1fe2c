package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReplay: what is no run, or none of proved schedules, is refused. Runs are replayed by the tests of verify/replay.
func TestReplay(t *testing.T) {
	header := `{"format":"collgen events 1","process":0,"size":1,"job":""}` + "\n"
	joined := `{"n":1,"comm":"1","do":"joined","member":{"name":"world","rank":0,"size":1,"processes":[0],"transport":"inproc"}}` + "\n"
	end := `{"n":2,"comm":"1","do":"end"}` + "\n"
	for _, c := range []struct {
		file, want string
		status     int
	}{
		{"", "there are no files rank-*.events", statusFailed},
		{"{}\n", `rank-0.events: line 1: the format is ""`, statusFailed},
		{header + joined + end, "rank-0.events, line 3: end: no call has begun", statusFailed},
		{header + joined, "1 events of 1 processes are those of the proved schedules", 0},
	} {
		dir := t.TempDir()
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(dir, "rank-0.events"), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out strings.Builder
		if status := run(t.Context(), []string{"replay", "-catalogue", dir}, &out, &out); status != c.status ||
			!strings.Contains(out.String(), c.want) {
			t.Errorf("status %d, %s\nwant %d, %s", status, out.String(), c.status, c.want)
		}
	}
	var out strings.Builder
	if status := run(t.Context(), []string{"replay"}, &out, &out); status != statusUsage || !strings.Contains(out.String(),
		"COLL_EVENTS") {
		t.Errorf("status %d, %s", status, out.String())
	}
}
