//go:build unix && !aix && !solaris

package main

import (
	"bufio"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// secretFile returns a file with a secret and that mode.
func secretFile(t *testing.T, mode os.FileMode) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(name, []byte(strings.Repeat("s", secretBytes)), mode); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestStore listens until it is told to end, for the job of the flags or of the environment. That ranks can use it is
// tested with the launchers.
func TestStore(t *testing.T) {
	secret := secretFile(t, 0o600)
	for name, x := range map[string]struct{ flags, env []string }{
		"flags":       {[]string{"-job", "train", "-epoch", "3", "-secret-file", secret}, nil},
		"environment": {nil, []string{"COLL_JOB=train", "COLL_EPOCH=3", "COLL_SECRET_FILE=" + secret}},
	} {
		t.Run(name, func(t *testing.T) {
			l := command(t, append([]string{"store", "-listen", "127.0.0.1:0"}, x.flags...)...)
			l.cmd.Env = append(l.cmd.Env, x.env...)
			serves(t, l)
		})
	}
}

// serves has l listen for attempt 3 at the job train until it is told to end.
func serves(t *testing.T, l *launch) {
	t.Helper()
	says, err := l.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(says).ReadString('\n')
	at := regexp.MustCompile(`job "train", attempt 3: listening at (.*)\n`).FindStringSubmatch(line)
	if err != nil || at == nil {
		t.Fatalf("%q, %v", line, err)
	}
	c, err := net.Dial("tcp", at[1])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := l.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := l.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestStoreRefuses is command lines and secrets that are not good enough.
func TestStoreRefuses(t *testing.T) {
	good := secretFile(t, 0o600)
	for _, test := range []struct {
		args   string
		status int
		says   string
	}{
		{"-secret-file " + good, 2, "-listen is not given"},
		{"-listen 127.0.0.1:0", 2, "neither -secret-file nor COLL_SECRET_FILE"},
		{"-listen 127.0.0.1:0 -epoch 4294967296 -secret-file " + good, 2, "-epoch"},
		{"-listen 127.0.0.1:0 more -secret-file " + good, 2, `no use for "more"`},
		{"-listen 127.0.0.1:0 -secret-file " + secretFile(t, 0o644), 1, "secret"},
		{"-listen 127.0.0.1:0 -secret-file " + good + "none", 1, "no such file"},
		{"-listen nowhere -secret-file " + good, 1, "nowhere"},
		{"-h", 0, "umask"},
	} {
		got := command(t, append([]string{"store"}, strings.Fields(test.args)...)...).run()
		if got.status != test.status || !strings.Contains(got.out+got.report, test.says) {
			t.Errorf("%s: status %d, %s%s", test.args, got.status, got.out, got.report)
		}
	}
	l := command(t, "store", "-listen", "127.0.0.1:0", "-secret-file", good)
	l.cmd.Env = append(l.cmd.Env, "COLL_EPOCH=third")
	if got := l.run(); got.status != 2 || !strings.Contains(got.out+got.report, "COLL_EPOCH") {
		t.Errorf("COLL_EPOCH=third: status %d, %s%s", got.status, got.out, got.report)
	}
}
