//go:build unix && !aix && !solaris

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/collgen/collgen/internal/scratch"
)

// keeperName is the keeper's Args[0]: no command line makes collrun one.
const keeperName = "collrun: keeper"

// keeper is a second process of collrun that leads the process group of the ranks, and makes the job's directory. It
// reads a pipe that only collrun has open for writing: when that ends, collrun is gone, however it died, and the keeper
// removes the directory and kills the group, the ranks' own children and itself included.
type keeper struct {
	cmd    *exec.Cmd
	dir    string   // the job's directory
	lease  *os.File // closed when collrun ends
	leader int      // the keeper's process id: the id of the group, not given to another as long as it was not waited for
	closed atomic.Bool
}

// newKeeper starts a keeper, and returns when the job's directory is there. Lost is called if it ends before close.
func newKeeper(lost func()) (*keeper, error) {
	k := new(keeper)
	if err := k.start(lost); err != nil {
		return nil, fmt.Errorf("starting the keeper: %w", err)
	}
	return k, nil
}

func (k *keeper) start(lost func()) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	in, lease, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	k.lease = lease
	k.cmd = &exec.Cmd{Path: self, Args: []string{keeperName}, Stdin: in, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	made, err := k.cmd.StdoutPipe()
	var complaints io.Reader
	if err == nil {
		complaints, err = k.cmd.StderrPipe()
	}
	if err == nil {
		err = k.cmd.Start()
	}
	if err != nil {
		return errors.Join(err, lease.Close())
	}
	k.leader = k.cmd.Process.Pid
	dir, err := io.ReadAll(made)
	if err != nil || len(dir) == 0 {
		err = errors.Join(err, lease.Close()) // which ends a keeper that lives
		complaint, _ := io.ReadAll(complaints)
		return errors.Join(err, k.cmd.Wait(), errors.New(string(complaint)))
	}
	k.dir = string(dir)
	go func() { // the pipe ends with the keeper, which nobody waits for yet
		if _, _ = io.Copy(io.Discard, complaints); !k.closed.Load() {
			lost()
		}
	}()
	return nil
}

// close removes the job's directory and kills what is left of the group: in this order, because whoever kills collrun
// after that finds no keeper any more. What somebody in the group has added meanwhile goes at the end.
func (k *keeper) close() error {
	k.closed.Store(true)
	_ = os.RemoveAll(k.dir)
	kill(k.leader, syscall.SIGKILL)
	k.lease.Close()
	_ = k.cmd.Wait() // it was killed
	return os.RemoveAll(k.dir)
}

// keep is the keeper's whole life.
func keep() {
	signal.Ignore(append(passedOn, syscall.SIGPIPE)...) // collrun may be gone before it reads
	// The folder has mode 0700. If the keeper is killed together with collrun, the next keeper removes it.
	dir, remove, err := scratch.Dir("collrun")
	if err != nil {
		fmt.Fprint(os.Stderr, err)
		os.Exit(statusFailed)
	}
	os.Stdout.WriteString(dir) // from here on the group may be signalled
	os.Stdout.Close()
	_, _ = io.Copy(io.Discard, os.Stdin) // whatever ends it, collrun is gone
	// The directory goes first, because the keeper does not survive what follows. A rank may be adding to it meanwhile.
	for range 10 {
		if os.RemoveAll(dir) == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	remove()
	kill(os.Getpid(), syscall.SIGKILL)
}

// kill sends sig to a process group; that none is left of it is fine.
func kill(group int, sig syscall.Signal) { _ = syscall.Kill(-group, sig) }
