package fasttest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const sharedMemory = "/dev/shm"

// surroundings are what was there before a job: entries of the shared memory's directory, and sockets on which this
// process listens. Other tests come and go at the same time, so what is new is counted only if it is the job's: a
// rank's files are in a directory of the job's own, its sockets are those of a process that has the job's name in its
// environment, or of this process, and shared memory has our name and nobody holds it.
type surroundings struct {
	temp             string // TMPDIR of the job's ranks
	memory, listened []string
}

func look(t testing.TB) surroundings {
	t.Helper()
	return surroundings{t.TempDir(), memories(), listeners("self")}
}

// WantNothingLeft looks for what a job may leave behind: files, shared memory, processes, and sockets that listen. What
// ends on its own, as processes that were told to, has some time for it.
func (j *Job) WantNothingLeft() {
	j.t.Helper()
	left := j.left()
	for deadline := time.Now().Add(Generous); len(left) > 0 && time.Now().Before(deadline); left = j.left() {
		time.Sleep(10 * time.Millisecond)
	}
	if len(left) > 0 {
		j.t.Errorf("the job has left %s", strings.Join(left, ", "))
	}
}

// left returns what there is of the job, or was made meanwhile.
func (j *Job) left() (left []string) {
	for _, name := range entries(j.before.temp) {
		left = append(left, filepath.Join(j.before.temp, name))
	}
	for _, name := range without(memories(), j.before.memory) {
		if path := filepath.Join(sharedMemory, name); !held(path) {
			left = append(left, path)
		}
	}
	left = append(left, without(listeners("self"), j.before.listened)...)
	for _, id := range pids() {
		if environ, err := os.ReadFile("/proc/" + id + "/environ"); err == nil && slices.Contains(
			strings.Split(string(environ), "\x00"), "COLL_JOB="+j.name) {
			left = append(append(left, "process "+id), listeners(id)...)
		}
	}
	return left
}

func without(all, some []string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return slices.Contains(some, s) })
}

// entries returns the names in dir, none if it is not there.
func entries(dir string) (names []string) {
	all, _ := os.ReadDir(dir)
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// memories returns the names of shared memory of this user's that has our name.
func memories() []string {
	return slices.DeleteFunc(entries(sharedMemory), func(name string) bool {
		var s unix.Stat_t
		return !strings.Contains(name, "collgen") || unix.Lstat(filepath.Join(sharedMemory, name), &s) != nil ||
			int(s.Uid) != os.Geteuid()
	})
}

// pids returns the ids of all processes.
func pids() []string {
	return slices.DeleteFunc(entries("/proc"), func(name string) bool { return name[0] < '1' || name[0] > '9' })
}

// held reports whether a process has mapped the file, or has it open: then it is not left behind.
func held(path string) bool {
	return slices.ContainsFunc(pids(), func(id string) bool {
		maps, _ := os.ReadFile("/proc/" + id + "/maps")
		return bytes.Contains(maps, []byte(path)) || slices.Contains(descriptors(id), path)
	})
}

// descriptors returns what the process's descriptors are of: a path, or such as socket:[inode].
func descriptors(id string) (of []string) {
	for _, fd := range entries("/proc/" + id + "/fd") {
		if link, err := os.Readlink("/proc/" + id + "/fd/" + fd); err == nil {
			of = append(of, link)
		}
	}
	return of
}

// tables are where the system lists sockets: which column tells those that listen, by which word, which one has the
// inode, and which one the address.
var tables = []struct {
	name, listens           string
	state, inode, addressed int
}{{"unix", "00010000", 3, 6, 7}, {"tcp", "0A", 3, 9, 1}, {"tcp6", "0A", 3, 9, 1}}

// listeners returns the sockets on which the process listens.
func listeners(id string) (all []string) {
	open := descriptors(id)
	for _, table := range tables {
		text, _ := os.ReadFile("/proc/" + id + "/net/" + table.name)
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) > max(table.inode, table.addressed) && f[table.state] == table.listens &&
				slices.Contains(open, "socket:["+f[table.inode]+"]") {
				all = append(all, fmt.Sprintf("%s socket %s (%s) of process %s", table.name, f[table.addressed],
					f[table.inode], id))
			}
		}
	}
	return all
}
