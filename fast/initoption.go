package fast

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"time"

	"github.com/collgen/collgen/fast/hooks"
	"github.com/collgen/collgen/fast/internal/bootstrap"
	"github.com/collgen/collgen/fast/internal/deadlock"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// InitOption tells Init which rank this process is, and how it finds and talks to the others. If two options set the
// same thing, the later one counts, so options after those of FromEnv override the environment.
type InitOption func(*initConfig)

// initConfig is what the options of Init, Join and Run say.
type initConfig struct {
	bootstrap.Config
	eventDir string
	slow     time.Duration         // 0: flight.DefaultSlow
	times    deadlock.Limits       // set by tests
	tuning   func() (tuned, error) // nil: none
	tuned    tuned                 // the result of tuning
	hooks    []*hooks.Hooks
	// All calls have the option Reproducible.
	reproducible bool
	err          error // the first option that is wrong
}

// apply applies opts, for a function called what.
func (p *initConfig) apply(what string, opts []InitOption) error {
	for _, o := range opts {
		if o == nil {
			return wire.Refuse(what, "an option is nil")
		}
		o(p)
	}
	if p.err != nil {
		return wire.Refuse(what, "%v", p.err)
	}
	if p.eventDir != "" {
		if err := events.Check(); err != nil {
			return wire.Refuse(what, "events are to be written to %s: %v", p.eventDir, err)
		}
	}
	if p.tuning == nil {
		return nil
	}
	var err error
	if p.tuned, err = p.tuning(); err != nil {
		return wire.Refuse(what, "the tuning: %v", err)
	}
	return nil
}

// WithRank sets the rank of this process and the number of ranks, 0 <= rank < size.
func WithRank(rank, size int) InitOption {
	return func(p *initConfig) { p.Rank, p.Size = rank, size }
}

// WithJob sets the name of the job, the same on all of its ranks. No other job with the same secret may have the name
// at the same time; without a secret, no other job of this user on this host. Without WithJob the name is empty.
func WithJob(name string) InitOption { return func(p *initConfig) { p.Job = name } }

// WithEpoch numbers the attempts at a job that is restarted under the same name. Processes of different attempts refuse
// each other.
func WithEpoch(n uint32) InitOption { return func(p *initConfig) { p.Epoch = n } }

// WithStore has the ranks find each other through s, which the caller closes.
func WithStore(s Store) InitOption {
	return func(p *initConfig) { p.Store, p.StoreAddress = s, "" }
}

// WithStoreAddress has the ranks find each other through one of the following stores. Without it and WithStore, it is
// the local one.
//
//   - "local": all ranks are on this host and run by this user. It needs no secret and no network, and leaves no file.
//     Linux only.
//   - "tcp://host:port": rank 0 listens there, unless `collrun store` or another process does, or the address is not
//     one of its host. It needs a secret or certificates.
//   - "file:///directory": a directory that all hosts see, for this job alone. It needs a secret or certificates. The
//     directory is created if it is missing, and removed in the end.
//   - "pmi": the store of the launcher that has set PMI_FD, such as mpiexec of MPICH or srun --mpi=pmi2. It provides a
//     secret.
func WithStoreAddress(address string) InitOption {
	return func(p *initConfig) { p.StoreAddress, p.Store = address, nil }
}

// WithSecret sets the job's secret, 32 random bytes that all its processes have and nobody else. Anyone who has it can
// take the place of any rank.
func WithSecret(secret []byte) InitOption {
	if secret == nil {
		return withSecretFrom(nil)
	}
	return withSecretFrom(func() (secure.Secret, error) { return bootstrap.ParseSecret(secret) })
}

// WithSecretFile has the job's secret read from a file that only this user may read (mode 0600): 32 bytes, or 64
// hexadecimal digits.
func WithSecretFile(path string) InitOption {
	return withSecretFrom(func() (secure.Secret, error) { return secure.ReadSecretFile(path) })
}

func withSecretFrom(read func() (secure.Secret, error)) InitOption {
	return func(p *initConfig) { p.SecretFrom = read }
}

// WithCertificate has ranks prove who they are by certificates instead of a secret. The certificate of rank 3 of job
// "train" has the DNS name "rank-3.train", and is signed by one of roots.
func WithCertificate(certificate tls.Certificate, roots *x509.CertPool) InitOption {
	return func(p *initConfig) { p.Certificate = secure.FromCertificate(certificate, roots) }
}

// WithTransport has all ranks use one transport: "tcp" or "rdma", even on one host, or "shm", which fails if the ranks
// are on several hosts. All ranks pass the same name: if only some pass "tcp" or "rdma", Init fails on all.
//
// Without it, or with "", ranks on one host share memory, and others use TCP. They use RDMA instead if both ask for it
// by WithRDMADevice and have a device that works.
//
// RDMA is experimental, and therefore has to be asked for: it was tested on soft-RoCE, but not yet on hardware. It
// needs an InfiniBand or RoCE device, libibverbs, and a program built with cgo for Linux; "rdma" fails where one of
// these is missing, and names it. RDMA is not encrypted: with WithEncryption, "" uses TCP instead.
func WithTransport(name string) InitOption { return func(p *initConfig) { p.Transport = name } }

// WithRDMADevice asks for RDMA, which is experimental: see WithTransport. It chooses this process's RDMA device, a port
// of it, and settings, in the form "mlx5_0:1,gid=10.0.0.7,mtu=1024,tc=104". Each part may be left out:
//
//   - gid is one of the port's addresses, or the RoCE version, v1 or v2; both may be given;
//   - mtu is the size of a packet in bytes, tc the traffic class, and sl the service level;
//   - pkey is the index of the partition's key in the port's table;
//   - retry says how often an unanswered packet is repeated, 1 to 6;
//   - timeout is how long each of these tries takes, such as "67ms", at most 10 s. It is rounded up to a value that
//     devices have.
//
// If the device is "any" or missing, the first port that works is used. CheckRDMA returns the choice, with all
// settings: the address is the one that most other networks can reach, and the timeout is short enough to detect a dead
// peer within two seconds.
//
// Several devices, separated by semicolons as in "mlx5_0;mlx5_1,tc=104", or "all" ports that work, are used together.
// Two ranks then use as many as both have, the first ones of each. "" does not ask for RDMA.
func WithRDMADevice(device string) InitOption { return func(p *initConfig) { p.RDMADevice = device } }

// WithInterface chooses where this process listens for processes of other hosts: an interface by its name ("eth0"), a
// network ("10.0.0.0/8"), or an address of this host. Without it, this is the address from which the store is reached,
// or else the first address that is not a loopback address.
func WithInterface(name string) InitOption { return func(p *initConfig) { p.Network = name } }

// WithEncryption encrypts data that is sent over TCP (AES-256-GCM), which costs time. Without it, only control messages
// are encrypted. Data connections are still made by ranks that have proved who they are. But whoever is on the path
// between two hosts can read the data and, by taking over a connection, change it. All ranks pass it or none does;
// otherwise Init fails on all.
func WithEncryption() InitOption { return func(p *initConfig) { p.Encrypt = true } }

// WithoutCMA keeps this process from reading long messages directly from the memory of other processes of its host by
// process_vm_readv(2), and them from reading its memory. Without it, processes do so where it is faster and the system
// allows it, which each process finds out. Otherwise they use shared memory, and memory of Alloc.
func WithoutCMA() InitOption { return func(p *initConfig) { p.NoCMA = true } }

// WithHeartbeatTimeout sets how long a process may be silent before it is taken for dead, 2 s by default. All ranks
// pass the same time, or Init fails on all. A process that computes is not silent: a goroutine sends its heartbeats. A
// silent process of the same host has 16 times as long if the system reports that it runs, or waits for a processor or
// for its memory.
func WithHeartbeatTimeout(after time.Duration) InitOption {
	return func(p *initConfig) { p.HeartbeatTimeout = after }
}

// WithLogger sets where warnings are logged, such as one that a call waits for a slow rank; nil means nowhere. The
// default is slog.Default().
func WithLogger(log *slog.Logger) InitOption {
	return func(p *initConfig) { p.Log, p.LogSet = log, true }
}

// WithTraceDir has the flight recorder written to a file in dir, rank-<n>.jsonl, when a call fails for the first time,
// or the function of Main or Run, or when Abort is called.
func WithTraceDir(dir string) InitOption { return func(p *initConfig) { p.TraceDir = dir } }

// WithEventDir has every rank write the events of its protocols to a file in dir, rank-<n>.events. `collgen replay`
// compares these files with the schedules that were proved. Writing takes time, so programs have to be built with -tags
// collgen_events; in others, Init and Run fail. They also fail if the file already exists.
func WithEventDir(dir string) InitOption { return func(p *initConfig) { p.eventDir = dir } }

// WithSlowCall sets how long a call may make no progress before a warning names the ranks that it waits for, 10 s by
// default and at least 1 ms. Progress is checked at least four times as often. A call that is long because it moves
// much data makes progress.
//
// For a rank in another process, the warning also says when its last heartbeat came. If it is on this host, the warning
// says whether it is running, waiting for a processor, asleep, stopped or gone. Init, Join, Agree, Shrink, Grow, and
// functions that make communicators warn in the same way.
func WithSlowCall(after time.Duration) InitOption {
	return func(p *initConfig) {
		if p.slow = after; after < flight.MinSlow {
			p.err = cmp.Or(p.err, fmt.Errorf("a call that is slow after %v, want at least %v", after, flight.MinSlow))
		}
	}
}

// WithReproducible has all calls of the job carry the option Reproducible. All ranks pass it, or calls for which it
// makes a difference fail with a MismatchError.
func WithReproducible() InitOption { return func(p *initConfig) { p.reproducible = true } }

// WithTuning has calls follow t, on all communicators of the job. All ranks have the same table, or calls for which the
// tables differ get a MismatchError.
func WithTuning(t *Tuning) InitOption {
	return func(p *initConfig) { p.tuning = func() (tuned, error) { return tunedBy(t, "the given table") } }
}

// WithTuningFile is WithTuning with a table from a file, as DecodeTuning reads it. "" means no table.
func WithTuningFile(path string) InitOption {
	if path == "" {
		return func(p *initConfig) { p.tuning = nil }
	}
	return func(p *initConfig) { p.tuning = func() (tuned, error) { return tunedByFile(path) } }
}
