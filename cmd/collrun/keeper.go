package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// keepFlag is the first argument of the keeper; the second is the job's directory.
const keepFlag = "-keep"

// keeper is a second process of collrun that leads the process group of the ranks. It reads a pipe that only collrun
// has open for writing: when that ends, collrun is gone, however it died, and the keeper removes the job's directory
// and kills the group, the ranks' own children and itself included.
type keeper struct {
	cmd    *exec.Cmd
	dir    string   // the job's directory
	lease  *os.File // closed when collrun ends
	leader int      // the keeper's process id: the id of the group, not given to another as long as it was not waited for
}

// newKeeper makes the job's directory and starts its keeper.
func newKeeper() (*keeper, error) {
	dir, err := os.MkdirTemp("", "collrun-") // mode 0700
	if err != nil {
		return nil, err
	}
	k := &keeper{dir: dir}
	if err := k.start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the keeper: %w", err), os.RemoveAll(dir))
	}
	return k, nil
}

func (k *keeper) start() error {
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
	k.cmd = exec.Command(self, keepFlag, k.dir)
	k.cmd.Stdin = in
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ready, err := k.cmd.StdoutPipe()
	if err == nil {
		err = k.cmd.Start()
	}
	if err != nil {
		return errors.Join(err, lease.Close())
	}
	k.leader = k.cmd.Process.Pid
	if _, err := io.ReadFull(ready, make([]byte, 1)); err != nil {
		return errors.Join(fmt.Errorf("it ended: %w", err), lease.Close(), k.cmd.Wait())
	}
	return nil
}

// close kills what is left of the group and removes the job's directory.
func (k *keeper) close() error {
	kill(k.leader, syscall.SIGKILL)
	k.lease.Close()
	_ = k.cmd.Wait() // it was killed
	return os.RemoveAll(k.dir)
}

// keep is the keeper's whole life.
func keep(dir string) {
	signal.Ignore(passedOn...)
	os.Stdout.WriteString("k") // from here on the group may be signalled
	os.Stdout.Close()
	_, _ = io.Copy(io.Discard, os.Stdin) // whatever ends it, collrun is gone
	// The directory goes first, because the keeper does not survive what follows. A rank may be adding to it meanwhile.
	for range 10 {
		if os.RemoveAll(dir) == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	kill(os.Getpid(), syscall.SIGKILL)
}

// kill sends sig to a process group; that none is left of it is fine.
func kill(group int, sig syscall.Signal) { _ = syscall.Kill(-group, sig) }
