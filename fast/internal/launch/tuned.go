package launch

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Auto is the value of COLL_TUNE that stands for the file of this machine, if there is one.
const Auto = "auto"

// TunedFile returns the file with the rules that were measured on this machine. Its name stands for what the processors
// say of themselves, and for their number, also of those that this process may not use. The file need not exist.
func TunedFile() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, runtime.GOOS, runtime.GOARCH)
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		describe(h, f)
	} else {
		fmt.Fprintln(h, runtime.NumCPU())
	}
	return filepath.Join(dir, "collgen", "tune-"+hex.EncodeToString(h.Sum(nil)[:6])+".json"), nil
}

// described are the fields of /proc/cpuinfo that say what a processor is, on x86 and on ARM. Others change with time.
var described = []string{"vendor_id", "cpu family", "model", "model name", "stepping", "cache size", "flags",
	"CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features"}

// describe writes what the processors in /proc/cpuinfo are.
func describe(w io.Writer, cpuinfo io.Reader) {
	for lines := bufio.NewScanner(cpuinfo); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if name = strings.TrimSpace(name); slices.Contains(described, name) {
			fmt.Fprintln(w, name, strings.TrimSpace(value))
		}
	}
}

// tune sets the file of rules that COLL_TUNE names. That of this machine counts only if all ranks are on it: ranks with
// different rules cannot make calls together.
func (e *environment) tune(l *Launch) {
	if l.Tune = e.get("COLL_TUNE"); l.Tune != Auto {
		return
	}
	l.Tune = ""
	if l.LocalSize != l.Size && l.Size != 1 && l.Store != Local {
		e.because("COLL_TUNE=auto does not count: COLL_LOCAL_SIZE or a launcher has to say that all ranks are on this host")
		return
	}
	path, err := TunedFile()
	if err == nil {
		_, err = os.Stat(path)
	}
	switch {
	case err == nil:
		l.Tune = path
	case errors.Is(err, fs.ErrNotExist):
		e.because("COLL_TUNE=auto finds no %s, which collperf -tune -quick writes", path)
	default:
		e.because("COLL_TUNE=auto does not count: %v", err)
	}
}
