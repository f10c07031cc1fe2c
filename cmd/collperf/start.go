package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/collgen/collgen/fast"
)

// rankName is what a process of collperf is called that another one has started as a rank.
const rankName = "collperf-rank"

// isRank reports whether this process is one.
func isRank() bool { return os.Args[0] == rankName }

// asRank makes this process end with the one that has started it, which holds the other end of its standard input and
// is the one to be interrupted.
func asRank() {
	signal.Ignore(os.Interrupt)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(statusFailed)
	}()
}

// job is ranks that one process starts, itself being rank 0.
type job struct {
	setting
	name  string
	store string
	// secret proves who belongs to the job where its store does not; nil: not needed.
	secret []byte
}

func newJob(s setting) (*job, error) {
	j := &job{setting: s, name: "collperf-" + rand.Text(), store: "local"}
	if runtime.GOOS == "linux" {
		return j, nil
	}
	address, err := freeAddress()
	j.store, j.secret = "tcp://"+address, make([]byte, 32)
	_, _ = rand.Read(j.secret) // it never fails
	return j, err
}

// options returns those of rank 0. What else the environment says holds for all ranks.
func (j *job) options() []fast.InitOption {
	opts := append(fast.FromEnv(), fast.WithRank(0, j.ranks), fast.WithJob(j.name), fast.WithTransport(j.transport),
		fast.WithStoreAddress(j.store))
	if j.secret != nil {
		opts = append(opts, fast.WithSecret(j.secret))
	}
	return opts
}

// environment returns what another rank finds in its environment.
func (j *job) environment(rank int) []string {
	i, n := strconv.Itoa(rank), strconv.Itoa(j.ranks)
	env := append(os.Environ(), "COLL_RANK="+i, "COLL_LOCAL_RANK="+i, "COLL_SIZE="+n, "COLL_LOCAL_SIZE="+n,
		"COLL_JOB="+j.name, "COLL_STORE="+j.store, "COLL_TRANSPORT="+j.transport)
	if j.secret != nil {
		env = append(env, "COLL_SECRET_FILE=", "COLL_SECRET_FD=3")
	}
	return env
}

// start starts another rank, with the command line of this process. It is killed at the end of ctx.
func (j *job) start(ctx context.Context, rank int, stderr io.Writer) (*exec.Cmd, error) {
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

// secretPipe returns where a rank reads the secret.
func (j *job) secretPipe() (*os.File, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	_, err = out.Write(j.secret)
	return in, err
}

// startRanks works as rank 0 of ranks that it starts, and returns when all of them have ended.
func startRanks(ctx context.Context, s setting, stderr io.Writer, f work) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	j, err := newJob(s)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	for rank := 1; rank < s.ranks && err == nil; rank++ {
		var cmd *exec.Cmd
		if cmd, err = j.start(ctx, rank, stderr); err == nil {
			all.Go(func() {
				if err := cmd.Wait(); err != nil {
					cancel(fmt.Errorf("rank %d has ended: %w", rank, err))
				}
			})
		}
	}
	if err == nil {
		err = joined(ctx, j.options(), f)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = fmt.Errorf("%w (%w)", cause, err)
	}
	if err != nil {
		late := time.AfterFunc(settling, func() { cancel(err) })
		defer late.Stop()
	}
	all.Wait()
	return cmp.Or(err, context.Cause(ctx))
}

// settling is how long ranks may take to say why they end, when another has failed.
const settling = 500 * time.Millisecond
