package launchers

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// daemon starts a program that goes on until the test ends. What it says is shown if the test fails.
func (p *place) daemon(args ...string) {
	p.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	cmd := p.command(ctx, args...)
	log, err := os.Create(filepath.Join(p.t.TempDir(), "log"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		stop()
		_ = cmd.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && p.t.Failed() {
			p.t.Logf("%s said:\n%s", args[0], text)
		}
	})
}

// waitListening waits until somebody listens at an address.
func waitListening(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(deadline); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// waitFor waits until a command succeeds, which shows that a daemon is up.
func (p *place) waitFor(daemon string, args ...string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), deadline)
	defer cancel()
	for {
		out, err := p.command(ctx, args...).CombinedOutput()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			p.t.Fatalf("%s does not come up: %v: %v: %s", daemon, args, err, out)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
