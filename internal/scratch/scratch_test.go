package scratch

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv("SCRATCH_CHILD") != "" {
		dir, _, err := Dir("test")
		fmt.Println(dir, err, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

// TestKilled: the folder of a program that was killed is gone when the next one is made, that of one that runs is not.
func TestKilled(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("SCRATCH_CHILD", "1")
	var dirs []string
	var children []*exec.Cmd
	for range 2 {
		child := exec.Command(os.Args[0])
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
		line, _ := bufio.NewReader(out).ReadString('\n')
		dir, said, _ := strings.Cut(line, " ")
		if said != "<nil> <nil>\n" {
			t.Fatal(line)
		}
		dirs, children = append(dirs, dir), append(children, child)
	}
	_ = children[0].Process.Kill()
	_ = children[0].Wait()
	alike := filepath.Join(os.TempDir(), "collgen-test-other-1")
	if err := os.Mkdir(alike, 0o700); err != nil {
		t.Fatal(err)
	}
	own, remove, err := Dir("test")
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{dirs[0]: false, dirs[1]: true, alike: true, own: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", dir, err, want)
		}
	}
	remove()
	if _, err := os.Stat(own); err == nil {
		t.Error("it is there after it was removed")
	}
}

// TestTogether: many at once get folders of their own, which stay.
func TestTogether(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			dir, remove, err := Dir("together")
			if err != nil {
				t.Error(err)
				return
			}
			defer remove()
			time.Sleep(time.Millisecond)
			if _, err := os.Stat(dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestPipe: a pipe with the name of such a folder keeps nobody waiting.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	if err := syscall.Mkfifo(filepath.Join(dir, "collgen-pipe-1"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, remove, err := Dir("pipe")
	if err != nil {
		t.Fatal(err)
	}
	remove()
}
