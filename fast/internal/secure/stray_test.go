package secure

import (
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// strays are what comes to an open port.
var strays = []struct {
	name string
	come func(net.Conn)
}{
	{"closed at once", func(net.Conn) {}},
	{"HTTP", func(c net.Conn) {
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		_, _ = io.Copy(io.Discard, c)
	}},
	{"TLS", func(c net.Conn) { _ = tls.Client(c, &tls.Config{InsecureSkipVerify: true}).Handshake() }},
	{"random bytes", func(c net.Conn) {
		_, _ = io.CopyN(c, rand.Reader, 2000)
		_, _ = io.Copy(io.Discard, c)
	}},
	{"one byte of ours", func(c net.Conn) {
		_, _ = io.WriteString(c, magic[:1])
		_, _ = io.Copy(io.Discard, c)
	}},
	{"silent", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }},
}

// TestStrays is bar 6, as far as the handshake goes: processes come in while thousands of strays do, and what those
// cost is bounded.
func TestStrays(t *testing.T) {
	tries := 10_000
	if testing.Short() {
		tries = 1000
	}
	const processes = 16
	me := Identity{Job: "train-7", Size: processes + 1}
	cred := FromSecret(secretOf("ours"))
	s := serve(t, cred, me, nil, nil)
	clean := arrivalOf(t, s, cred, me)
	before := memoryInUse()

	var left, most atomic.Int64
	left.Store(int64(tries))
	var running sync.WaitGroup
	for range 64 {
		running.Go(func() {
			for n := left.Add(-1); n >= 0; n = left.Add(-1) {
				if c, err := net.Dial("tcp", s.address.String()); err == nil {
					strays[n%int64(len(strays))].come(c)
					_ = c.Close()
				}
				most.Store(max(most.Load(), int64(s.inside())))
			}
		})
	}
	for left.Load() > int64(tries)*9/10 {
		runtime.Gosched()
	}
	during := arrivalOf(t, s, cred, me)
	grown := memoryInUse() - before
	for left.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
	s.stop() // which sends away the last silent ones
	running.Wait()
	t.Logf("bar 6, handshake: %d strays, up to %d inside at once; %d processes came in after %v, %v without; %d "+
		"KiB of memory",
		tries, most.Load(), processes, during, clean, grown>>10)
	if most.Load() > int64(me.Size+extraHandshakes) || grown > 16<<20 {
		t.Errorf("%d handshakes at once and %d bytes: too many", most.Load(), grown)
	}
	for _, told := range s.Refusals() {
		t.Log(told)
	}
	if told := fmt.Sprint(s.Refusals()); !strings.Contains(told, "not a process of collgen") {
		t.Errorf("the server keeps %q", told)
	}
}

func (s *serving) inside() int {
	s.pending.mutex.Lock()
	defer s.pending.mutex.Unlock()
	return len(s.pending.all)
}

// arrivalOf has all processes but me come to s, which try again as they may, and says how long that took.
func arrivalOf(t *testing.T, s *serving, cred Credentials, me Identity) time.Duration {
	t.Helper()
	start := time.Now()
	var running sync.WaitGroup
	for n := 1; n < me.Size; n++ {
		running.Go(func() {
			process := me
			process.Process = n
			for {
				c, err := s.call(t, cred, process, Hello{To: me.Process, Purpose: Control})
				if err == nil {
					_ = c.Close()
					return
				}
				if !Transient(err) || time.Since(start) > time.Minute {
					t.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	for n := 1; n < me.Size && !t.Failed(); n++ {
		_ = s.arrived(t).conn.Close()
	}
	return time.Since(start)
}

func memoryInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
