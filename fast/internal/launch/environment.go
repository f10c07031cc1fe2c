package launch

import (
	"cmp"
	"fmt"
	"strconv"
	"time"
)

// Launch is what the environment says about this process. fast.Launch has the same fields, documented for users.
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

// MaxSize is the greatest number of ranks that a launcher may claim.
const MaxSize = 1 << 16

// environment reads variables. It records the first error, and the reasons for its results.
type environment struct {
	get     func(string) string
	err     error
	reasons []string
}

func (e *environment) fail(format string, args ...any) {
	e.err = cmp.Or(e.err, fmt.Errorf(format, args...))
}

func (e *environment) because(format string, args ...any) {
	e.reasons = append(e.reasons, fmt.Sprintf(format, args...))
}

// split returns which of the variables are set and which are not.
func (e *environment) split(names []string) (set, missing []string) {
	for _, name := range names {
		if e.get(name) != "" {
			set = append(set, name)
		} else {
			missing = append(missing, name)
		}
	}
	return set, missing
}

// first returns the first of the variables that is set, or "".
func (e *environment) first(names ...string) string {
	for _, name := range names {
		if name != "" && e.get(name) != "" {
			return name
		}
	}
	return ""
}

// number returns the value of a variable, which has to be a number from least to most.
func (e *environment) number(name string, least, most int) int {
	n, err := strconv.Atoi(e.get(name))
	if err != nil || n < least || n > most {
		e.fail("%s is %q, want a number from %d to %d", name, e.get(name), least, most)
		return least
	}
	return n
}

// flag returns the value of a variable that is a boolean. An unset one is false.
func (e *environment) flag(name string) bool {
	if e.get(name) == "" {
		return false
	}
	yes, err := strconv.ParseBool(e.get(name))
	if err != nil {
		e.fail("%s is %q, want 1 or 0", name, e.get(name))
	}
	return yes
}

// duration returns the value of a variable, which has to be a positive duration for time.ParseDuration.
func (e *environment) duration(name string) time.Duration {
	d, err := time.ParseDuration(e.get(name))
	if err != nil || d <= 0 {
		e.fail("%s is %q, want a duration such as 2s", name, e.get(name))
		return 0
	}
	return d
}
