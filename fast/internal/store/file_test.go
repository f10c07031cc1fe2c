//go:build unix

package store

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFileRefuses directories that are not this user's alone.
func TestFileRefuses(t *testing.T) {
	open, file := filepath.Join(t.TempDir(), "open"), filepath.Join(t.TempDir(), "file")
	if err := os.Mkdir(open, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		open:         "its mode is 0750, want 0700",
		file:         "not a directory",
		"relative":   "not an absolute path",
		"/none/such": "no such file or directory",
	} {
		if _, err := NewFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

// TestFileLeavesNothing but what was not deleted, and files that nobody else can read.
func TestFileLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "job")
	f := openFile(t, dir)
	put(t, f, "a", "1")
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		if info, err := name.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	other := openFile(t, dir)
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	want(t, f, "a", "1")
	last := openFile(t, dir)
	for _, err := range []error{f.Close(), last.Delete(t.Context(), "a"), last.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory is still there, %v", err)
	}
	given := t.TempDir()
	if err := os.Chmod(given, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := openFile(t, given).Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(given); err != nil {
		t.Errorf("a directory that no store made was removed: %v", err)
	}
}

// TestFileLeavesNoPart: a value that cannot be put in its place leaves nothing.
func TestFileLeavesNoPart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "job")
	f := openFile(t, dir)
	put(t, f, "other", "1")
	before, err := os.ReadDir(dir)
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, fileName("k")), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Set(t.Context(), "k", []byte("1")); err == nil {
		t.Error("it takes the place of a directory")
	}
	if after, err := os.ReadDir(dir); err != nil || len(after) != len(before)+1 {
		t.Errorf("%v, %v; before there was %v", after, err, before)
	}
}

// TestFileHostile has things in the directory that are no values.
func TestFileHostile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "job")
	f := openFile(t, dir)
	secret := filepath.Join(t.TempDir(), "other")
	for _, err := range []error{
		os.WriteFile(secret, []byte("not the store's"), 0o600),
		os.Symlink(secret, filepath.Join(dir, fileName("link"))),
		syscall.Mkfifo(filepath.Join(dir, fileName("pipe")), 0o600),
		os.Mkdir(filepath.Join(dir, fileName("directory")), 0o700),
		os.WriteFile(filepath.Join(dir, fileName("large")), make([]byte, MaxValue+1), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, key := range []string{"link", "pipe", "directory", "large"} {
		if v, err := f.Get(ctx, key); err == nil || ctx.Err() != nil {
			t.Errorf("%s: got %d bytes, %v", key, len(v), err)
		}
	}
}
