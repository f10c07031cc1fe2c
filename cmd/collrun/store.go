//go:build unix && !aix && !solaris

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/collgen/collgen/fast"
)

// storeOptions are the command line of collrun store.
type storeOptions struct {
	listen, job, secretFile string
	epoch                   uint64
}

func storeCommand(args []string, s streams) int {
	var o storeOptions
	f := flags("collrun store", s)
	f.StringVar(&o.listen, "listen", "", "where to listen: an `address`, host:port, that all hosts reach (required)")
	f.StringVar(&o.job, "job", os.Getenv("COLL_JOB"), "the job's `name`; COLL_JOB")
	f.StringVar(&o.secretFile, "secret-file", os.Getenv("COLL_SECRET_FILE"),
		"the `file` with the job's secret; COLL_SECRET_FILE")
	epoch, badEpoch := strconv.ParseUint(cmp.Or(os.Getenv("COLL_EPOCH"), "0"), 10, 32)
	if badEpoch != nil {
		badEpoch = fmt.Errorf("COLL_EPOCH: %w", badEpoch)
	}
	f.Uint64Var(&o.epoch, "epoch", epoch, "the `number` of the attempt at the job; COLL_EPOCH")
	status, goOn := parse(f, args, s, aboutStore, func() error {
		return errors.Join(badEpoch, noArguments(f.Args()),
			o.check())
	})
	if !goOn {
		return status
	}
	if err := o.serve(s); err != nil {
		fmt.Fprintln(s.err, "collrun store:", err)
		return statusFailed
	}
	return 0
}

func (o *storeOptions) check() error {
	switch {
	case o.listen == "":
		return errors.New("-listen is not given")
	case o.secretFile == "":
		return errors.New("neither -secret-file nor COLL_SECRET_FILE says where the job's secret is")
	case o.epoch != uint64(uint32(o.epoch)):
		return fmt.Errorf("-epoch %d: want at most 32 bits", o.epoch)
	}
	return nil
}

// serve serves the store until somebody asks for the end.
func (o *storeOptions) serve(s streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "collrun store: job %q, attempt %d: listening at %v\n", o.job, o.epoch, l.Addr())
	return fast.ServeStore(ctx, l,
		fast.WithJob(o.job), fast.WithEpoch(uint32(o.epoch)), fast.WithSecretFile(o.secretFile))
}

var aboutStore = [2]string{`collrun store serves the store where the ranks of one job find each other, until SIGINT or SIGTERM. It is for jobs
without a host that is known before, where rank 0 could serve it: all ranks get COLL_STORE=tcp://host:port.

    collrun store -listen host:port [flags]

`, `
The store and all ranks have the same job's name (COLL_JOB), attempt, and secret: 32 random bytes, or 64 hexadecimal
digits, in a file that only this user may read:

    (umask 077; head -c 32 /dev/urandom > secret)
`}
