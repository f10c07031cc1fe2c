package simnet

import (
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Weather is how the links of a network are.
type Weather struct {
	Delay    time.Duration // a byte is at most twice that long on its way
	Capacity int           // bytes that are on their way, or wait to be read, in one direction
	Pieces   bool          // reading and writing move fewer bytes than they could, by chance
}

// way is one direction of a link.
type way struct {
	Weather
	mu            sync.Mutex
	changed       *sync.Cond
	random        *rand.Rand
	parts         []part
	held          int // bytes in parts
	reset         bool
	closed        bool // by who writes
	hung          bool // by who reads
	severed       bool // what is written is lost
	corrupt       bool // a bit of what is written next is changed
	until         [2]time.Time
	rouses        [2]*time.Timer // at those times
	reader, wrote func()         // called when one may go on that reads, or writes
}

// part is bytes that arrive at one moment.
type part struct {
	data []byte
	at   time.Time
}

// Whose deadline it is.
const (
	reading = iota
	writing
)

func newWay(w Weather, seed uint64, number uint64) *way {
	d := &way{Weather: w, random: rand.New(rand.NewPCG(seed, number)), reader: func() {}, wrote: func() {}}
	d.changed = sync.NewCond(&d.mu)
	return d
}

// change changes d by f and has all look again.
func (d *way) change(f func()) {
	d.mu.Lock()
	f()
	d.changed.Broadcast()
	reader, wrote := d.reader, d.wrote
	d.mu.Unlock()
	reader()
	wrote()
}

func (d *way) rouse() { d.change(func() {}) }

// limit is SetReadDeadline or SetWriteDeadline. Nobody has to look again before it is over.
func (d *way) limit(whose int, t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.until[whose] = t
	if timer := d.rouses[whose]; timer != nil {
		timer.Stop()
	}
	if !t.IsZero() {
		d.rouses[whose] = time.AfterFunc(time.Until(t), d.rouse)
	}
}

// over returns why nothing is read, or written, whatever there is.
func (d *way) over(whose int) error {
	until := d.until[whose]
	switch {
	case whose == reading && d.hung, whose == writing && d.closed:
		return net.ErrClosed
	case d.reset, whose == writing && d.hung:
		return syscall.ECONNRESET
	case !until.IsZero() && !time.Now().Before(until):
		return os.ErrDeadlineExceeded
	}
	return nil
}

// here returns the bytes that have arrived; io.EOF: nothing comes any more.
func (d *way) here() ([]byte, error) {
	switch {
	case len(d.parts) > 0 && !time.Now().Before(d.parts[0].at):
		return d.parts[0].data, nil
	case len(d.parts) == 0 && d.closed && !d.severed:
		return nil, io.EOF
	}
	return nil, syscall.EAGAIN
}

// read is read(2) of a socket that does not block, with io.EOF at the end.
func (d *way) read(b []byte) (n int, err error) {
	d.mu.Lock()
	var data []byte
	if err = d.over(reading); err == nil {
		data, err = d.here()
	}
	if err == nil && len(b) > 0 {
		n = copy(b, data[:d.some(len(data))])
		d.held -= n
		if d.parts[0].data = data[n:]; n == len(data) {
			d.parts = d.parts[1:]
		}
	}
	d.mu.Unlock()
	if n > 0 { // there is room
		d.rouse()
	}
	return n, err
}

// write is write(2) of a socket that does not block. Nobody has to look before the bytes have arrived.
func (d *way) write(b []byte) (n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err = d.over(writing); err != nil || len(b) == 0 {
		return 0, err
	}
	if d.severed { // as if it were in buffers
		return len(b), nil
	}
	if n = d.some(min(len(b), d.Capacity-d.held)); n <= 0 {
		return 0, syscall.EAGAIN
	}
	at := time.Now().Add(d.delay())
	if last := len(d.parts) - 1; last >= 0 && at.Before(d.parts[last].at) {
		at = d.parts[last].at
	}
	data := slices.Clone(b[:n])
	if d.corrupt {
		data[d.random.IntN(n)] ^= 1
		d.corrupt = false
	}
	d.parts = append(d.parts, part{data, at})
	d.held += n
	time.AfterFunc(time.Until(at), d.rouse)
	return n, nil
}

// delay returns how long something is on its way.
func (d *way) delay() time.Duration {
	if d.Delay == 0 {
		return 0
	}
	return d.Delay + time.Duration(d.random.Int64N(int64(d.Delay)))
}

// some returns how many of n bytes are moved at once.
func (d *way) some(n int) int {
	if !d.Pieces || n <= 1 || d.random.IntN(2) == 0 {
		return n
	}
	return 1 + d.random.IntN(n)
}

// ready reports whether one would not get EAGAIN.
func (d *way) ready(whose int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over(whose) != nil {
		return true
	}
	if whose == writing {
		return d.severed || d.held < d.Capacity
	}
	_, err := d.here()
	return !again(err)
}

// wait waits until that may be so.
func (d *way) wait(whose int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.over(whose) == nil {
		if _, err := d.here(); whose == reading && !again(err) || whose == writing && (d.severed || d.held < d.Capacity) {
			return
		}
		d.changed.Wait()
	}
}
