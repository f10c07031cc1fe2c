package flight

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/trace"
)

// TestSaveHangs: a directory that does not answer delays a failed call for a second, and Close not at all.
func TestSaveHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := New(Config{Size: 1, Dir: "hangs", Log: slog.New(slog.NewTextHandler(&log, nil))})
		answers := make(chan error)
		defer close(answers)
		r.save = func(*trace.Trace) error { return <-answers }
		track, start := r.Join(Communicator{Size: 1}), time.Now()
		track.Save(errors.New("it failed"))
		track.Leave()
		r.Close()
		if took := time.Since(start); took != saveTime {
			t.Errorf("Save and Close take %v", took)
		}
		if !strings.Contains(log.String(), errSaveTime.Error()) {
			t.Errorf("the log is %q", log.String())
		}
	})
}

// TestNoPartOfAFile: if the file cannot be put in place, nothing is left of it.
func TestNoPartOfAFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "rank-0.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := New(Config{Dir: dir, Size: 1}).writeFile(new(trace.Trace)); err == nil {
		t.Error("it takes the place of a directory")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}
