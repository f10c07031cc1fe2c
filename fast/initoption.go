package fast

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/setup"
)

// InitOption tells Init which rank it is, and how it finds and talks to the others. Of options that say the same thing
// the last one counts, so those after FromEnv's override the environment.
type InitOption func(*initConfig)

// initConfig is what the options of Init say.
type initConfig struct {
	rank, size       int
	rankless         error // why the environment gives no rank, if it does not
	job              string
	epoch            uint32
	store            Store
	storeAddress     string
	storeless        string                        // why the environment names no store, if it does not
	secretFrom       func() (secure.Secret, error) // a function, which is printed as an address
	certified        secure.Credentials            // from a certificate, if one is given
	transport        string
	network          string // interface, network or address
	host             string // names this host instead of what the system says
	encrypt          bool
	noCMA            bool
	device           string           // of RDMA
	openRDMA         setup.RDMAOpener // of this host's devices, if it is not given
	hasRDMA          bool             // one can be opened
	heartbeatTimeout time.Duration
	log              *slog.Logger
	logs             bool // log was given
	traceDir         string
	eventDir         string
	slow             time.Duration
	times            limits                // of a test
	tuning           func() (tuned, error) // nil: none
	tuned            tuned                 // what it returned
	err              error                 // the first option that is wrong
}

// WithRank says that this process is rank of size ranks, 0 <= rank < size.
func WithRank(rank, size int) InitOption {
	return func(p *initConfig) { p.rank, p.size = rank, size }
}

// WithJob names the job that all ranks belong to: the same name on all of them, and none that another job with the same
// secret or, without one, of this user on this host, has at the same time. Without it the name is empty.
func WithJob(name string) InitOption { return func(p *initConfig) { p.job = name } }

// WithEpoch numbers the attempts at a job that is started again under the same name: processes of different attempts
// refuse each other.
func WithEpoch(n uint32) InitOption { return func(p *initConfig) { p.epoch = n } }

// WithStore has the ranks find each other through s, which stays the caller's.
func WithStore(s Store) InitOption {
	return func(p *initConfig) { p.store, p.storeAddress = s, "" }
}

// WithStoreAddress has the ranks find each other through one of these stores; without it and WithStore it is the first:
//
//   - "local": all ranks are on this host, and run by this user. It needs no secret and no network, and leaves no file.
//     Linux only.
//   - "tcp://host:port": rank 0 listens there unless somebody does already, such as `collrun store`, or it is not an
//     address of its host. It needs a secret or certificates.
//   - "file:///directory": a directory that all hosts have, of this job alone. It needs a secret or certificates, and is
//     made and removed if it is not there.
//   - "pmi": the store of the launcher that has set PMI_FD, such as mpiexec of MPICH or srun --mpi=pmi2. It has a secret.
func WithStoreAddress(address string) InitOption {
	return func(p *initConfig) { p.storeAddress, p.store = address, nil }
}

// WithSecret gives the job's secret, 32 random bytes that all its processes have and nobody else. Whoever has it can be
// any rank.
func WithSecret(secret []byte) InitOption {
	if secret == nil {
		return withSecretFrom(nil)
	}
	return withSecretFrom(func() (secure.Secret, error) { return checkSecret(secret) })
}

// WithSecretFile has the job's secret read from a file that only this user may read (mode 0600): 32 bytes, or 64
// hexadecimal digits.
func WithSecretFile(path string) InitOption {
	return withSecretFrom(func() (secure.Secret, error) { return secure.ReadSecretFile(path) })
}

func withSecretFrom(read func() (secure.Secret, error)) InitOption {
	return func(p *initConfig) { p.secretFrom = read }
}

// WithCertificate has ranks prove who they are by certificates of their own instead of a secret. That of rank 3 of job
// "train" has the DNS name "rank-3.train", and is signed by one of roots.
func WithCertificate(certificate tls.Certificate, roots *x509.CertPool) InitOption {
	return func(p *initConfig) { p.certified = secure.FromCertificate(certificate, roots) }
}

// WithTransport has all ranks talk over "tcp" or "rdma", also on one host, or "shm", which fails if they are on several
// hosts. Without it, or with "", ranks on one host share memory, and others use TCP; or RDMA, where both ask for it by
// WithRDMADevice and have a device that can be used. RDMA is there for trying: it was tested on soft-RoCE, and on no
// hardware so far, which is why it has to be asked for. It needs a device of InfiniBand or RoCE, libibverbs, and a
// program built with cgo for Linux; "rdma" fails where that is missing, and says what. It is not encrypted: with
// WithEncryption others use TCP. All ranks say the same: if only some say "tcp" or "rdma", Init fails on all.
func WithTransport(name string) InitOption { return func(p *initConfig) { p.transport = name } }

// WithRDMADevice asks for RDMA, for trying: see WithTransport. It chooses this process's RDMA device, a port of it, and
// settings, in the form "mlx5_0:1,gid=10.0.0.7,mtu=1024,tc=104", of which each part may be left out: gid is one of the
// port's addresses, or the type of RoCE, v1 or v2, or given twice both; mtu the most bytes of a packet; tc the traffic
// class; sl the service level; pkey the index of the partition's key in the port's table; retry how often a packet is
// repeated that is not answered, 1 to 6; and timeout how long each of these tries takes, as "67ms", at most 10 s,
// rounded up to what devices have. With "any" in place of the device, or none there, it is the first port that works,
// as CheckRDMA finds out, which tells all that is chosen: an address that other networks reach before others, and a
// timeout by which a peer that is gone is known within two seconds. Several devices, separated by semicolons, as
// "mlx5_0;mlx5_1,tc=104", or "all" ports that work, are used together: two ranks use the first ones of both, as many as
// both have. "" asks for nothing.
func WithRDMADevice(device string) InitOption { return func(p *initConfig) { p.device = device } }

// WithInterface chooses where this process listens for those of other hosts: the name of an interface ("eth0"), a
// network ("10.0.0.0/8"), or an address of this host. Without it, it is the address from which the store is reached, or
// the first one that is not a loopback address.
func WithInterface(name string) InitOption { return func(p *initConfig) { p.network = name } }

// WithEncryption encrypts what goes over TCP (AES-256-GCM), at a cost. Without it, data are in clear: connections are
// made by ranks that have proved who they are, but whoever is on the path between two hosts can read the data and, by
// taking over a connection, change them. Control messages are always encrypted. All ranks say the same, or
// Init fails on all.
func WithEncryption() InitOption { return func(p *initConfig) { p.encrypt = true } }

// WithoutCMA has this process neither read long messages in the memory of other processes of its host nor have them
// read there, by process_vm_readv(2). Without it that is done where it is faster and the system allows it, which each
// process finds out; memory that is shared serves everywhere else, and between them memory of Alloc.
func WithoutCMA() InitOption { return func(p *initConfig) { p.noCMA = true } }

// WithHeartbeatTimeout sets after how long without a sign of life a process is taken for dead, 2 s without it. All
// ranks say the same, or Init fails on all. A process that computes is not silent: signs of life come from a goroutine
// of their own. One of the same host that is silent, but runs or waits for a processor or its memory, as the system
// says, has 16 times as long.
func WithHeartbeatTimeout(after time.Duration) InitOption {
	return func(p *initConfig) { p.heartbeatTimeout = after }
}

// WithLogger sets where warnings go, such as that a call waits for a slow rank; nil: nowhere. Without it that is
// slog.Default().
func WithLogger(log *slog.Logger) InitOption {
	return func(p *initConfig) { p.log, p.logs = log, true }
}

// WithTraceDir has the flight recorder written to a file in dir, rank-<n>.jsonl, when a call fails for the first time.
func WithTraceDir(dir string) InitOption { return func(p *initConfig) { p.traceDir = dir } }

// WithEventDir has every rank write what its protocols do to a file in dir, rank-<n>.events, which `collgen replay`
// compares with the schedules that were proved. It takes time, and is for programs that are built for it: in others,
// which were built without -tags collgen_events, Init and Run fail. So they do if the file is there already.
func WithEventDir(dir string) InitOption { return func(p *initConfig) { p.eventDir = dir } }

// WithSlowCall sets after how long without progress a call is warned of, with the ranks that it waits for; 10 s without
// it. Of a rank in a process of its own the warning says what is known: when its last heartbeat came and, on this host,
// whether it is running, waiting for a processor, asleep, stopped or gone. So is what waits for other ranks in Init,
// Join, Agree, Shrink, Grow, and wherever a communicator is made. A call that takes long because it moves much is not
// slow. What has moved is looked at four times as often, or more. It is at least 1 ms.
func WithSlowCall(after time.Duration) InitOption {
	return func(p *initConfig) {
		if p.slow = after; after < shortestSlow {
			p.err = cmp.Or(p.err, fmt.Errorf("a call that is slow after %v, want at least %v", after, shortestSlow))
		}
	}
}
