// Package scratch has folders for what a program needs while it runs. One is gone when the program is done with it;
// where the program was killed, the next one that asks for a folder of that name removes it.
package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Dir returns a new folder for temporary files, called collgen-name- and a number, and how to remove it. Folders of
// that name whose programs have ended are removed now: each program holds a lock on its own as long as it runs.
func Dir(name string) (dir string, remove func(), err error) {
	prefix := "collgen-" + name + "-"
	sweep(prefix)
	for {
		dir, err := os.MkdirTemp("", prefix)
		if err != nil {
			return "", nil, err
		}
		held, err := lock(dir)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.EWOULDBLOCK) { // somebody who sweeps was faster
			continue
		}
		// Where a file system has no locks, held is nil, and nobody removes what is left.
		return dir, func() { _ = errors.Join(os.RemoveAll(dir), held.Close()) }, nil
	}
}

// lock is dir, open and locked: nobody else has the lock, and it is still there.
func lock(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		_, err = os.Stat(dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweep removes what programs have left that were killed.
func sweep(prefix string) {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, dir := range all {
		if strings.Trim(filepath.Base(dir)[len(prefix):], "0123456789") != "" {
			continue // another name that begins alike
		}
		if held, err := lock(dir); err == nil {
			_ = errors.Join(os.RemoveAll(dir), held.Close())
		}
	}
}
