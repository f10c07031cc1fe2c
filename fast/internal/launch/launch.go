// Package launch finds out from the environment who has started this process: which rank of which job it is, and how it
// finds the others. What each launcher sets is a row of a table; the first row that fits counts. Package launch has a
// client for PMI-1 too, the protocol by which some launchers keep a store for their processes.
package launch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Launch is what the environment says. fast.Launch is the same with an explanation for users.
type Launch struct {
	Launcher             string
	Rank, Size           int
	LocalRank, LocalSize int // -1: not known
	Job                  string
	Epoch                uint32
	Store                string // "": nothing says
	SecretFile           string
	SecretFD             int // -1: none
	Transport            string
	Interface            string
	RDMA                 string
	Host                 string
	Encrypt              bool
	HeartbeatTimeout     time.Duration // 0: nothing says
	TraceDir             string
	EventDir             string
	Tune                 string
	NoCMA                bool
	Slow                 time.Duration // 0: nothing says
	Reason               string
}

// MaxSize bounds the number of ranks that a launcher may claim.
const MaxSize = 1 << 16

// The errors of Detect where no launcher is found: nothing says that there is one, or some of our own variables do.
var (
	ErrNobody     = errors.New("no launcher has set the rank")
	ErrIncomplete = errors.New("the rank is given in part")
)

// Detect returns what the environment says; getenv is os.Getenv. If no launcher is found, which is ErrNobody or
// ErrIncomplete, or one that contradicts itself, the error says which variables that is about.
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

// Settings returns what the environment says to a process that has no launcher: the job's name, attempt and store, its
// secret, and what COLL_* says besides. It fails as Detect does, and never because there is no launcher.
func Settings(getenv func(string) string) (Launch, error) {
	e := &environment{get: getenv}
	l := Launch{LocalRank: -1, LocalSize: -1, SecretFD: -1, Store: getenv("COLL_STORE")}
	e.job(&l, new(launcher))
	e.secret(&l)
	e.settings(&l)
	return l, e.err
}

// launcher returns the first row that fits, and the names of the later ones that do.
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

// nobody returns the error when no row fits. Variables of a row that is incomplete are worth telling; who has set one
// of ours means this process to be a rank.
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

// locality is how many ranks are on this host, as far as anybody says.
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

// job is the name of the job, and which attempt at it this is.
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

// secret is where the job's secret comes from, if the store does not have it.
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

// settings are what COLL_* says whoever the launcher is.
func (e *environment) settings(l *Launch) {
	l.Transport, l.Interface, l.Host = e.get("COLL_TRANSPORT"), e.get("COLL_INTERFACE"), e.get("COLL_HOST")
	l.RDMA = e.get("COLL_RDMA")
	l.Encrypt, l.TraceDir, l.Tune = e.flag("COLL_ENCRYPT"), e.get("COLL_TRACE"), e.get("COLL_TUNE")
	l.NoCMA, l.EventDir = e.flag("COLL_NO_CMA"), e.get("COLL_EVENTS")
	if e.get("COLL_HEARTBEAT_TIMEOUT") != "" {
		l.HeartbeatTimeout = e.duration("COLL_HEARTBEAT_TIMEOUT")
	}
	if e.get("COLL_SLOW_CALL") != "" {
		l.Slow = e.duration("COLL_SLOW_CALL")
	}
}
