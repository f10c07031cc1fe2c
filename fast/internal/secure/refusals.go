package secure

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/collgen/collgen/fast/internal/wire"
)

// refusals counts failed handshakes by their reason, and keeps the last one of each: thousands of strays do not push
// out the one process with a wrong secret.
type refusals struct {
	mutex sync.Mutex
	of    [len(tells)]struct {
		count int
		last  string
	}
}

// tells are the reasons, those that tell most first.
var tells = [...]error{wire.ErrExhausted, ErrWrongSecret, ErrWrongVersion, ErrWrongMode, ErrWrongCertificate, ErrWrongJob, ErrStaleEpoch,
	ErrWrongSize, ErrWrongRank, wire.ErrFenced, ErrRefused, ErrBroken, ErrNotCollgen, ErrBusy}

// common are those that anybody may give at any time, port scanners and clients that try again among them.
var common = []error{wire.ErrFenced, ErrRefused, ErrBroken, ErrNotCollgen, ErrBusy}

// add returns the reason of err, and whether it is the first failure for that reason.
func (r *refusals) add(err error, from net.Addr) (reason error, first bool) {
	i := slices.IndexFunc(tells[:], func(reason error) bool { return errors.Is(err, reason) })
	if i < 0 {
		i = slices.Index(tells[:], ErrBroken)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.of[i].count++
	r.of[i].last = fmt.Sprintf("%v: %v", from, err)
	return tells[i], r.of[i].count == 1
}

func (r *refusals) words() (words []string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, x := range r.of {
		switch {
		case x.count == 1:
			words = append(words, x.last)
		case x.count > 1:
			words = append(words, fmt.Sprintf("%s (the last of %d)", x.last, x.count))
		}
	}
	return words
}
