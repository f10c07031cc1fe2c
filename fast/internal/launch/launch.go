// Package launch finds out from the environment which launcher has started this process, which rank of which job it is,
// and where the ranks meet. A table has a row for each launcher with the variables that it sets; the first row that
// fits is used. The package also has a client for PMI-1, the protocol of launchers that keep a store for their
// processes.
package launch

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// The errors of Detect if it finds no launcher. ErrIncomplete means that some variable of collgen is set.
var (
	ErrNobody     = errors.New("no launcher has set the rank")
	ErrIncomplete = errors.New("the rank is given in part")
)

// Detect returns what the environment says; getenv is os.Getenv. It fails with ErrNobody or ErrIncomplete if it finds
// no launcher, and with another error if the variables of the launcher contradict each other. The error names the
// variables.
func Detect(getenv func(string) string) (Launch, error) {
	e := &environment{get: getenv}
	l := Launch{LocalRank: -1, LocalSize: -1, SecretFD: -1}
	row, others := e.launcher()
	if row == nil {
		return l, e.nobody()
	}
	l.Launcher = row.name
	l.Rank, l.Size = e.number(row.rank, 0, MaxSize), e.number(row.size, 1, MaxSize)
	if e.err == nil && l.Rank >= l.Size {
		e.fail("%s is %d, and %s is %d", row.rank, l.Rank, row.size, l.Size)
	}
	e.because("%s set %s=%d and %s=%d", row.name, row.rank, l.Rank, row.size, l.Size)
	if len(others) > 0 {
		e.because("variables of %s are set as well, and come later in the order", strings.Join(others, " and "))
	}
	e.locality(&l, row)
	e.job(&l, row)
	e.store(&l, row)
	e.secret(&l)
	e.settings(&l)
	l.Reason = strings.Join(e.reasons, "; ")
	return l, e.err
}

// Settings returns what the environment says to a process without a launcher: the job's name, attempt, store and
// secret, and the other settings of COLL_*. It fails if their values are invalid.
func Settings(getenv func(string) string) (Launch, error) {
	e := &environment{get: getenv}
	l := Launch{LocalRank: -1, LocalSize: -1, SecretFD: -1, Store: getenv("COLL_STORE")}
	e.job(&l, new(launcher))
	e.secret(&l)
	e.settings(&l)
	return l, e.err
}

// launcher returns the first row that fits, and the names of later rows that fit too.
func (e *environment) launcher() (first *launcher, others []string) {
	for i := range launchers {
		row := &launchers[i]
		switch {
		case !row.fits(e):
		case first == nil:
			first = row
		default:
			others = append(others, row.name)
		}
	}
	return first, others
}

// nobody returns the error if no row fits. It lists incomplete rows. If a variable of collgen is set, this process is
// meant to be a rank, so the error is ErrIncomplete.
func (e *environment) nobody() error {
	var incomplete []string
	kind := ErrNobody
	for i := range launchers {
		set, missing := e.split(launchers[i].needs())
		if slices.ContainsFunc(set, func(name string) bool { return strings.HasPrefix(name, "COLL_") }) {
			kind = ErrIncomplete
		}
		if len(set) > 0 {
			incomplete = append(incomplete, fmt.Sprintf("%s is set, but not %s, as %s would",
				strings.Join(set, " and "), strings.Join(missing, " and "), launchers[i].name))
		}
	}
	text := "want COLL_RANK and COLL_SIZE, or a start by collrun, torchrun, mpirun, mpiexec, " +
		"srun or an indexed job of Kubernetes"
	if len(incomplete) > 0 {
		text += " (" + strings.Join(incomplete, "; ") + ")"
	}
	return fmt.Errorf("%w: %s", kind, text)
}

// locality sets how many ranks are on this host, if that is known.
func (e *environment) locality(l *Launch, row *launcher) {
	rank, size := e.first("COLL_LOCAL_RANK", row.localRank), e.first("COLL_LOCAL_SIZE", row.localSize)
	if rank != "" {
		l.LocalRank = e.number(rank, 0, MaxSize)
	}
	switch {
	case size != "":
		l.LocalSize = e.number(size, 1, MaxSize)
	case row.localSizeOf != nil:
		l.LocalSize = row.localSizeOf(e, l)
	}
	if e.err == nil && l.LocalSize > l.Size {
		e.fail("%s says that %d ranks are on this host, and %s is %d", size, l.LocalSize, row.size, l.Size)
	}
	if here := max(l.LocalSize, 0); e.err == nil && l.LocalRank >= 0 && l.LocalRank >= cmp.Or(here, l.Size) {
		e.fail("%s is %d, and there are %d ranks", rank, l.LocalRank, cmp.Or(here, l.Size))
	}
}

// job sets the name of the job and the number of the attempt.
func (e *environment) job(l *Launch, row *launcher) {
	switch name := e.get("COLL_JOB"); {
	case name != "":
		l.Job = name
	case row.jobOf != nil:
		l.Job = row.jobOf(e)
	default:
		set, _ := e.split(row.job)
		l.Job = row.short
		for _, name := range set {
			l.Job += "-" + e.get(name)
		}
	}
	if count := e.first("COLL_EPOCH", row.attempt(l)); count != "" {
		l.Epoch = uint32(e.number(count, 0, 1<<31-1))
	}
}

// secret sets where the job's secret comes from, unless the store has it.
func (e *environment) secret(l *Launch) {
	l.SecretFile = e.get("COLL_SECRET_FILE")
	if e.get("COLL_SECRET_FD") == "" {
		return
	}
	if l.SecretFile != "" {
		e.fail("both COLL_SECRET_FILE and COLL_SECRET_FD are set")
	}
	l.SecretFD = e.number("COLL_SECRET_FD", 0, 1<<20)
}

// settings sets what COLL_* says under any launcher.
func (e *environment) settings(l *Launch) {
	l.Transport, l.Interface, l.Host = e.get("COLL_TRANSPORT"), e.get("COLL_INTERFACE"), e.get("COLL_HOST")
	l.RDMA = e.get("COLL_RDMA")
	l.Encrypt, l.TraceDir = e.flag("COLL_ENCRYPT"), e.get("COLL_TRACE")
	e.tune(l)
	l.NoCMA, l.EventDir = e.flag("COLL_NO_CMA"), e.get("COLL_EVENTS")
	if e.get("COLL_HEARTBEAT_TIMEOUT") != "" {
		l.HeartbeatTimeout = e.duration("COLL_HEARTBEAT_TIMEOUT")
	}
	if e.get("COLL_SLOW_CALL") != "" {
		l.Slow = e.duration("COLL_SLOW_CALL")
	}
}

// hasLocal reports whether there is a store for ranks on one host that needs no configuration.
const hasLocal = runtime.GOOS == "linux"

// PMI is the address of the store that a launcher keeps.
const PMI = "pmi"

// Local is the address of the store for ranks on one host.
const Local = "local"

// store sets where the ranks meet. A job of one rank needs no store.
func (e *environment) store(l *Launch, row *launcher) {
	switch {
	case e.get("COLL_STORE") != "":
		l.Store = e.get("COLL_STORE")
		e.because("COLL_STORE says where the ranks find each other")
	case row.keeps:
		l.Store = PMI
		e.because("the launcher keeps a store for its processes, and the secret in it")
	case l.Size == 1:
		e.because("a job of one rank needs no store")
	case l.LocalSize == l.Size && hasLocal:
		l.Store = Local
		e.because("all ranks are on this host")
	default:
		var why string
		l.Store, why = row.storeOf(e, l)
		e.because("%s", why)
	}
}
