package remote

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// process is a process that a Job has started, with those of its descendants that are known.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended, with err
	err   error
	ranks []handle
}

// startProcess starts cmd in a process group of its own.
func startProcess(cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second // a grandchild may hold the output open
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// know records the process at the other end of conn, which p has started. Killing a launcher does not kill its ranks.
func (p *process) know(conn *net.UnixConn) {
	if h, err := open(conn); err == nil {
		p.ranks = append(p.ranks, h)
	}
}

// or returns an error that p has ended if it has, and otherwise err.
func (p *process) or(err error) error {
	select {
	case <-p.ended:
		if p.err != nil {
			return fmt.Errorf("%s has ended: %w", p.cmd.Path, p.err)
		}
		return fmt.Errorf("%s has ended", p.cmd.Path)
	default:
		return err
	}
}

// wait waits for the end of p.
func (p *process) wait(deadline time.Time) error {
	select {
	case <-p.ended:
		if errors.Is(p.err, exec.ErrWaitDelay) {
			return nil
		}
		return p.err
	case <-time.After(time.Until(deadline)):
		return fmt.Errorf("%s has not ended after it was told to", p.cmd.Path)
	}
}

// killing is the time that a launcher has to end its ranks itself.
const killing = 2 * time.Second

// terminate asks p and its process group to end.
func (p *process) terminate() {
	select {
	case <-p.ended:
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
	}
}

// kill ends p, its process group and the known ranks at the deadline, if they have not ended before.
func (p *process) kill(deadline time.Time) {
	select {
	case <-p.ended:
	case <-time.After(time.Until(deadline)):
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.ended
	}
	for _, h := range p.ranks {
		h.kill()
	}
	p.ranks = nil
}

// tail keeps the last bytes that are written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// mostTail is the number of bytes that a tail keeps.
const mostTail = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-mostTail):]
	return len(b), nil
}

// String returns the bytes that were kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
