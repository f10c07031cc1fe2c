package ranks

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/collgen/collgen/fast"
)

// rankName is the argv[0] of a rank that another process of collperf has started.
const rankName = "collperf-rank"

// IsRank reports whether this process is such a rank.
func IsRank() bool { return os.Args[0] == rankName }

// IsConsequence reports whether err only says that another rank has failed or left. That rank reports the cause.
func IsConsequence(err error) bool {
	return IsRank() && (errors.Is(err, fast.ErrAborted) || errors.Is(err, fast.ErrClosed) || errors.Is(err, fast.ErrDied))
}

// FollowParent makes this process exit with the one that has started it, which holds the other end of its standard
// input and handles interrupts.
func FollowParent() {
	signal.Ignore(os.Interrupt)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
}

// job is the ranks that this process starts. It is rank 0 itself.
type job struct {
	Setting
	name  string
	store string
	// secret proves the membership of the job if the store does not; nil: not needed.
	secret []byte
}

func newJob(s Setting) (*job, error) {
	j := &job{Setting: s, name: "collperf-" + rand.Text(), store: "local"}
	if runtime.GOOS == "linux" {
		return j, nil
	}
	address, err := freeAddress()
	j.store, j.secret = "tcp://"+address, make([]byte, 32)
	_, _ = rand.Read(j.secret) // never fails
	return j, err
}

// options returns the options of rank 0. The rest of the environment applies to all ranks.
func (j *job) options() []fast.InitOption {
	opts := append(fast.FromEnv(), fast.WithRank(0, j.Ranks), fast.WithJob(j.name), fast.WithTransport(j.Transport),
		fast.WithStoreAddress(j.store))
	if j.secret != nil {
		opts = append(opts, fast.WithSecret(j.secret))
	}
	return opts
}

// environment returns the environment of another rank.
func (j *job) environment(rank int) []string {
	i, n := strconv.Itoa(rank), strconv.Itoa(j.Ranks)
	env := append(os.Environ(), "COLL_RANK="+i, "COLL_LOCAL_RANK="+i, "COLL_SIZE="+n, "COLL_LOCAL_SIZE="+n,
		"COLL_JOB="+j.name, "COLL_STORE="+j.store, "COLL_TRANSPORT="+j.Transport)
	if j.secret != nil {
		env = append(env, "COLL_SECRET_FILE=", "COLL_SECRET_FD=3")
	}
	return env
}

// startRank starts another rank, with the command line of this process. It is killed at the end of ctx.
func (j *job) startRank(ctx context.Context, rank int, stderr io.Writer) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = append([]string{rankName}, os.Args[1:]...)
	cmd.Env, cmd.Stderr, cmd.WaitDelay = j.environment(rank), stderr, 5*time.Second
	if _, err := cmd.StdinPipe(); err != nil { // closed by the system when this process ends
		return nil, err
	}
	if j.secret != nil {
		in, err := j.secretPipe()
		if err != nil {
			return nil, err
		}
		defer in.Close()
		cmd.ExtraFiles = []*os.File{in}
	}
	return cmd, cmd.Start()
}

// secretPipe returns a pipe from which a rank reads the secret.
func (j *job) secretPipe() (*os.File, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	_, err = out.Write(j.secret)
	return in, err
}

// start starts the ranks, does the work as rank 0, and returns when all of them have ended.
func start(ctx context.Context, s Setting, stderr io.Writer, f Work) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	j, err := newJob(s)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	for rank := 1; rank < s.Ranks && err == nil; rank++ {
		var cmd *exec.Cmd
		if cmd, err = j.startRank(ctx, rank, stderr); err == nil {
			all.Go(func() {
				if err := cmd.Wait(); err != nil {
					cancel(fmt.Errorf("rank %d has ended: %w", rank, err))
				}
			})
		}
	}
	if err == nil {
		err = join(ctx, j.options(), f)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = fmt.Errorf("%w (%w)", cause, err)
	}
	if err != nil {
		late := time.AfterFunc(reportTime, func() { cancel(err) })
		defer late.Stop()
	}
	all.Wait()
	return cmp.Or(err, context.Cause(ctx))
}

// reportTime is how long ranks may take to report why they end after another one has failed.
const reportTime = 500 * time.Millisecond

// freeAddress returns an address of this host on which nobody listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
