package fasttest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLeftovers leaves one of everything behind: each is found, and nothing else is.
func TestLeftovers(t *testing.T) {
	name := fmt.Sprint("collgen-planted-", os.Getpid())
	for what, plant := range map[string]func(t *testing.T, j *Job) (remove func()){
		name + " file": func(t *testing.T, j *Job) func() { return plantFile(t, filepath.Join(j.before.temp, name)) },
		name + " memory": func(t *testing.T, _ *Job) func() {
			return plantFile(t, filepath.Join(sharedMemory, name))
		},
		"@" + name: func(t *testing.T, _ *Job) func() { return plantListener(t, "unix", "@"+name) },
		"tcp":      func(t *testing.T, _ *Job) func() { return plantListener(t, "tcp", "127.0.0.1:0") },
		"process": func(t *testing.T, j *Job) func() {
			p := exec.Command("sleep", "60")
			p.Env = j.Env(0)
			if err := p.Start(); err != nil {
				t.Skip(err)
			}
			return func() { _, _ = p.Process.Kill(), p.Wait() }
		},
	} {
		t.Run(what, func(t *testing.T) {
			j := NewJob(t, 1, "")
			j.WantNothingLeft()
			remove := plant(t, j)
			left := j.left()
			remove()
			want, _, _ := strings.Cut(what, " ")
			if len(left) != 1 || !strings.Contains(left[0], want) {
				t.Errorf("found %q, want %s", left, want)
			}
			j.WantNothingLeft()
		})
	}
}

func plantFile(t *testing.T, path string) (remove func()) {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Skip(err) // no such directory here
	}
	return func() { _ = os.Remove(path) }
}

func plantListener(t *testing.T, network, address string) (remove func()) {
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = l.Close() }
}
