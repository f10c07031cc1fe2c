package mesh

import (
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

// cable is a connection in memory that can be cut, in each direction by itself, without either end noticing; and that
// works under the clock of synctest. Each end has the lane that it writes and the one that it reads.
type cable struct {
	net.Conn // nil: what a cable cannot do
	out, in  *way
}

// newCable is a cable's two ends, which hold capacity bytes in each direction.
func newCable(capacity int) (a, b *cable) {
	x, y := newWay(capacity), newWay(capacity)
	return &cable{out: x, in: y}, &cable{out: y, in: x}
}

func (c *cable) Read(b []byte) (int, error)         { return c.in.read(b) }
func (c *cable) Write(b []byte) (int, error)        { return c.out.write(b) }
func (c *cable) SetReadDeadline(t time.Time) error  { return c.in.limit(&c.in.readUntil, t) }
func (c *cable) SetWriteDeadline(t time.Time) error { return c.out.limit(&c.out.writeUntil, t) }

func (c *cable) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

// Close closes what this end does. The other one reads what was written before.
func (c *cable) Close() error {
	c.out.close()
	c.in.hangUp()
	return nil
}

// way is one direction of a cable.
type way struct {
	mu                    sync.Mutex
	changed               *sync.Cond
	data                  []byte
	capacity              int
	closed                bool // by who writes
	hung                  bool // by who reads
	cut                   bool
	readUntil, writeUntil time.Time
}

func newWay(capacity int) *way {
	w := &way{capacity: capacity}
	w.changed = sync.NewCond(&w.mu)
	return w
}

func (w *way) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	w.changed.Broadcast()
}

func (w *way) close()  { w.change(func() { w.closed = w.closed || !w.cut }) }
func (w *way) hangUp() { w.change(func() { w.hung = true }) }
func (w *way) sever()  { w.change(func() { w.cut = true }) }

func (w *way) limit(which *time.Time, t time.Time) error {
	w.change(func() { *which = t })
	time.AfterFunc(time.Until(t), func() { w.change(func() {}) })
	return nil
}

func passed(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }

func (w *way) read(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		switch {
		case w.hung:
			return 0, net.ErrClosed
		case passed(w.readUntil):
			return 0, os.ErrDeadlineExceeded
		case len(w.data) > 0:
			n := copy(b, w.data)
			w.data = w.data[n:]
			w.changed.Broadcast()
			return n, nil
		case w.closed:
			return 0, io.EOF
		}
		w.changed.Wait()
	}
}

func (w *way) write(b []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		switch {
		case w.closed:
			return n, net.ErrClosed
		case passed(w.writeUntil):
			return n, os.ErrDeadlineExceeded
		case w.cut: // as if it were in buffers
			return len(b), nil
		}
		room := min(len(b)-n, max(0, w.capacity-len(w.data))) // it may hold more than a capacity that was set later
		w.data = append(w.data, b[n:n+room]...)
		w.changed.Broadcast()
		if n += room; n == len(b) {
			return n, nil
		}
		w.changed.Wait()
	}
}

// gate stops a process: all its goroutines of a mesh wait at it when it is shut, and otherwise for late.
type gate struct {
	mu   sync.Mutex
	shut chan struct{}
	late time.Duration
}

func (g *gate) pass() {
	g.mu.Lock()
	shut, late := g.shut, g.late
	g.mu.Unlock()
	if shut != nil {
		<-shut
	}
	time.Sleep(late)
}

// hold has the process be so late with everything from now on.
func (g *gate) hold(late time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.late = late
}

func (g *gate) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = make(chan struct{})
}

func (g *gate) goOn() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.shut)
	g.shut = nil
}

// cabled is a job on cables, of one process for each freeze time: cables[i][j] is i's end of the one to j.
func cabled(t *testing.T, capacity int, freeze ...time.Duration) (job []*Mesh, gates []*gate, cables [][]*cable) {
	b := newBoard()
	for p := range freeze {
		g := new(gate)
		c := b.config(p, len(freeze))
		c.Freeze, c.pause = freeze[p], g.pass
		m, err := newMesh(c)
		if err != nil {
			t.Fatal(err)
		}
		job, gates, cables = append(job, m), append(gates, g), append(cables, make([]*cable, len(freeze)))
		m.work.Go(m.watchOver)
	}
	for i := range job {
		for j := range job {
			c := Card{Process: j, Freeze: freeze[j]}
			job[i].know(c, c.encode(job[i].cfg.Credentials, job[i].me))
			if i < j {
				cables[i][j], cables[j][i] = newCable(capacity)
				job[i].attach(j, cables[i][j], nil)
				job[j].attach(i, cables[j][i], nil)
			}
		}
	}
	return job, gates, cables
}
