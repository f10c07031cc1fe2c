package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// startRanks starts one process per rank.
func (w *world) startRanks(ctx context.Context, _ string, words func(rank int) []string) error {
	var links []*link
	for rank := range w.links {
		l, err := w.startRank(words(rank))
		if err != nil {
			return err
		}
		w.close = append(w.close, func() error { _ = l.Close(); return nil })
		links = append(links, l)
	}
	for rank, l := range links {
		if err := w.meet(ctx, l, rank); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	return nil
}

func (w *world) startRank(words []string) (*link, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), in.Close())
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = w.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, theirOut, &w.output
	p, err := startProcess(cmd)
	if err := errors.Join(err, theirIn.Close(), theirOut.Close()); err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	w.processes = append(w.processes, p)
	return newLink(pipes{in, out}), nil
}

// startLauncher starts one process, which starts the ranks, and waits for these to connect to a socket in dir.
func (w *world) startLauncher(ctx context.Context, dir string, words func(rank int) []string) error {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "ranks"), Net: "unix"})
	if err != nil {
		return err
	}
	defer listener.Close()
	command := words(0)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = w.env
	cmd.Env = append(cmd.Environ(), Variable+"="+listener.Addr().String())
	cmd.Stdout, cmd.Stderr = &w.output, &w.output
	p, err := startProcess(cmd)
	if err != nil {
		return err
	}
	w.processes = append(w.processes, p)
	return w.accept(ctx, listener, p)
}

// accept waits until all ranks have connected, or the launcher or ctx ends.
func (w *world) accept(ctx context.Context, listener *net.UnixListener, p *process) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = listener.SetDeadline(time.Unix(1, 0)) })
	go func() {
		select {
		case <-p.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	for met := range w.links {
		conn, err := listener.AcceptUnix()
		if err != nil {
			return fmt.Errorf("%d of %d ranks have connected to the socket that %s names; then: %w", met, len(w.links), Variable,
				p.or(err))
		}
		p.know(conn)
		l := newLink(conn)
		w.close = append(w.close, func() error { _ = l.Close(); return nil })
		if err := w.meet(ctx, l, -1); err != nil {
			return err
		}
	}
	return nil
}
