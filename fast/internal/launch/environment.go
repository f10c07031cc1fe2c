package launch

import (
	"cmp"
	"fmt"
	"strconv"
	"time"
)

// environment reads variables. It keeps the first error, and the reasons for what it found.
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

// split returns which of some variables are set.
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

// first returns the first of some variables that is set, or "".
func (e *environment) first(names ...string) string {
	for _, name := range names {
		if name != "" && e.get(name) != "" {
			return name
		}
	}
	return ""
}

// number returns a variable whose value is a number from least to most.
func (e *environment) number(name string, least, most int) int {
	n, err := strconv.Atoi(e.get(name))
	if err != nil || n < least || n > most {
		e.fail("%s is %q, want a number from %d to %d", name, e.get(name), least, most)
		return least
	}
	return n
}

// flag returns a variable that is yes or no; not set is no.
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

// duration returns a variable whose value is a time as of time.ParseDuration, more than none.
func (e *environment) duration(name string) time.Duration {
	d, err := time.ParseDuration(e.get(name))
	if err != nil || d <= 0 {
		e.fail("%s is %q, want a duration such as 2s", name, e.get(name))
		return 0
	}
	return d
}
