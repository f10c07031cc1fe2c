// Package scratch provides temporary folders. If a program is killed before it removes its folder, the next program
// that asks for a folder with the same name removes it.
package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Dir returns a new temporary folder, called collgen-NAME- and a number, and a function that removes it. It also
// removes folders with that name whose programs have ended. Each program holds a lock on its folder while it runs.
func Dir(name string) (dir string, remove func(), err error) {
	prefix := "collgen-" + name + "-"
	sweep(prefix)
	for {
		dir, err := os.MkdirTemp("", prefix)
		if err != nil {
			return "", nil, err
		}
		held, err := lock(dir)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.EWOULDBLOCK) { // another program's sweep was faster
			continue
		}
		// If the file system has no locks, held is nil, and the folder of a killed program stays.
		return dir, func() { _ = errors.Join(os.RemoveAll(dir), held.Close()) }, nil
	}
}

// lock opens and locks dir. It returns an error if another program holds the lock, or dir no longer exists.
func lock(dir string) (*os.File, error) {
	// A pipe of that name would wait for a writer.
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
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

// sweep removes the folders of programs that were killed.
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
