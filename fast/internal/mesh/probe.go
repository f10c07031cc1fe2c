package mesh

import (
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// A process looks every probePause whether the next one still listens, and less often in a large job, so that what all
// of them together do does not grow with it.
const (
	probePause = 250 * time.Millisecond
	probeShare = 4 * time.Millisecond // for each process
)

// probe looks whether those that are to connect to this process, or to be introduced to it, still listen: at one after
// the other, so that what it costs does not grow with the job, and again at one where nobody does.
func (j *joining) probe() {
	absent := make(map[int]*absence)
	pause := max(probePause, time.Duration(j.me.Size)*probeShare)
	for process := j.me.Process + 1; ; {
		if sleep(j.work, pause); j.work.Err() != nil {
			return
		}
		c, routes := j.nextAwaited(process)
		if len(routes) == 0 {
			continue
		}
		process = c.Process
		if absent[process] == nil {
			absent[process] = new(absence)
		}
		nobody := deserted(j.work, routes)
		if absent[process].proved(routes, nobody) {
			j.reached(process, &wire.PeerError{Rank: process, Err: wire.ErrDied})
		}
		if !nobody {
			process++
		}
	}
}

// nextAwaited returns the first process from number first on, or else from the beginning, to which this one does not
// connect by itself, and that can be reached, and the ways to it; there are none if there is no such process.
func (j *joining) nextAwaited(first int) (c Card, routes []route) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.me.Size {
		p := (first + i) % j.me.Size
		x := j.members[p]
		if x == nil || x.raw == nil || j.isConnected(p, x) || p < j.me.Process && !j.private(&x.card) {
			continue
		}
		if routes, err := j.routesTo(&x.card, secure.Control); err == nil {
			return x.card, routes
		}
	}
	return c, nil
}
