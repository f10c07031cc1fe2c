package mesh

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of times in /proc: USER_HZ is 100 on all of Linux's architectures that Go knows.
const tick = time.Second / 100

// maxThreads limits how many threads of a process are examined.
const maxThreads = 1024

// examine returns the evidence about a process; ok is false if the system does not tell.
func examine(pid int) (e evidence, ok bool) {
	if pid <= 0 || !procIsOurs() {
		return e, false
	}
	task := fmt.Sprintf("/proc/%d/task", pid)
	whole, err := readStatus(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) || err == nil && whole.gone {
		return evidence{gone: true}, unix.Kill(pid, 0) == unix.ESRCH || err == nil
	}
	if err != nil || whole.stopped {
		return whole, err == nil
	}
	threads, err := os.ReadDir(task)
	for _, t := range threads[:min(len(threads), maxThreads)] {
		if whole.wants {
			break
		}
		one, failed := readStatus(task + "/" + t.Name() + "/stat")
		whole.wants = failed == nil && one.wants
		whole.kept = whole.kept || failed == nil && one.kept
	}
	return whole, err == nil
}

// procIsOurs reports whether /proc belongs to the PID namespace of this process.
func procIsOurs() bool {
	self, err := os.Readlink("/proc/self")
	return err == nil && self == strconv.Itoa(os.Getpid())
}

func readStatus(path string) (evidence, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return evidence{}, err
	}
	return parseStatus(text)
}

// parseStatus parses a stat file of /proc: see proc_pid_stat(5). The name of the program, in parentheses, may contain
// anything.
func parseStatus(text []byte) (e evidence, err error) {
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 18 {
		return e, fmt.Errorf("a status of %d fields", len(fields))
	}
	var failed [4]error
	number := func(i, field int) (n uint64) {
		n, failed[i] = strconv.ParseUint(string(fields[field-3]), 10, 63) // the first of them is field 3
		return n
	}
	e.faults = number(0, 12)
	e.used = time.Duration(min(number(1, 14)+number(2, 15), 1<<32)) * tick
	switch string(fields[0]) {
	case "Z", "X", "x":
		e.gone = number(3, 20) <= 1 // otherwise the first thread alone has ended
	case "T", "t":
		e.stopped = true
	case "R":
		e.wants = true
	case "D": // on a disk, or on kernel threads that wait for a processor themselves
		e.kept = true
	}
	return e, errors.Join(failed[:]...)
}
