package mesh

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/collgen/collgen/fast/internal/secure"
)

// impostor is a way to be no process of the job. It calls process to as a process of the job would.
type impostor struct {
	name string
	want error
	late bool // it gets its answer when the process that it calls knows whom it claims to be, as the job forms
	call func(ctx context.Context, conn net.Conn, to int) (*secure.Conn, error)
}

// impostors returns those of bar 7. They know the configuration of a job, and what a process of it once said in a
// handshake.
func impostors(c Config, said map[bool][][]byte) []impostor {
	client := func(cred secure.Credentials, change func(*secure.Identity)) func(context.Context, net.Conn,
		int) (*secure.Conn, error) {
		return func(ctx context.Context, conn net.Conn, to int) (*secure.Conn, error) {
			me := c.Identity
			me.Process = claimed
			change(&me)
			return secure.Client(ctx, conn, cred, me, secure.Hello{To: to, Purpose: secure.Control})
		}
	}
	same := func(*secure.Identity) {}
	ours := client(c.Credentials, same)
	through := func(write func(private bool, part int, b []byte) []byte) func(context.Context, net.Conn,
		int) (*secure.Conn, error) {
		return func(ctx context.Context, conn net.Conn, to int) (*secure.Conn, error) {
			_, private := conn.(secure.Private)
			return ours(ctx, disguised(conn, private, func(part int, b []byte) []byte { return write(private, part, b) }), to)
		}
	}
	return []impostor{
		{"wrong secret", secure.ErrWrongSecret, false, client(secure.FromSecret(secure.Secret{9}), same)},
		{"wrong rank claimed", ErrTaken, true, ours},
		{"replay", secure.ErrWrongSecret, false,
			through(func(private bool, part int, b []byte) []byte { return said[private][part] })},
		{"stale epoch", secure.ErrStaleEpoch, false, client(c.Credentials, func(me *secure.Identity) { me.Epoch-- })},
		{"wrong size", secure.ErrWrongSize, false, client(c.Credentials, func(me *secure.Identity) { me.Size++ })},
		{"wrong version", secure.ErrWrongVersion, false, through(func(_ bool, part int, b []byte) []byte {
			b = bytes.Clone(b)
			if part == 0 {
				binary.BigEndian.PutUint16(b[12:], secure.Version+1)
			}
			return b
		})},
	}
}

// claimed is the process that impostors say they are, and call those with lower numbers, as it would.
const claimed = 3

// disguise changes what a client says, part by part.
type disguise struct {
	net.Conn
	part  int
	write func(part int, b []byte) []byte
}

func (d *disguise) Write(b []byte) (int, error) {
	d.part++
	_, err := d.Conn.Write(d.write(d.part-1, b))
	return len(b), err
}

// disguised is conn, on which what is written is changed.
func disguised(conn net.Conn, private bool, write func(part int, b []byte) []byte) net.Conn {
	d := &disguise{Conn: conn, write: write}
	if private {
		return quiet{d}
	}
	return d
}

// quiet is a private connection.
type quiet struct{ net.Conn }

func (quiet) Private() {}

// quietly takes private connections.
type quietly struct{ net.Listener }

func (l quietly) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return quiet{c}, err
}

// overhear returns what a process of the job of c says in a handshake in the clear: its preamble, and its answer to a
// challenge.
func overhear(t *testing.T, c Config, private bool) (said [][]byte) {
	t.Helper()
	me, other := c.Identity, c.Identity
	me.Process, other.Process = claimed, 0
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if private {
		l = quietly{l}
	}
	ctx, cancel := context.WithCancel(soon(t))
	var serving sync.WaitGroup
	serving.Go(func() {
		_ = secure.NewServer(c.Credentials, other).Serve(ctx, l, nil, func(c *secure.Conn, _ secure.Hello) { _ = c.Close() })
	})
	defer serving.Wait()
	defer cancel()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	tap := disguised(conn, private, func(_ int, b []byte) []byte {
		said = append(said, bytes.Clone(b))
		return b
	})
	s, err := secure.Client(ctx, tap, c.Credentials, me, secure.Hello{To: 0, Purpose: secure.Control})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	return said
}

// fate is what has become of the impostors of one kind.
type fate struct{ tries, accepted, otherwise atomic.Int64 }

// try has an impostor call a process until it gets a final answer: that a process is busy is none.
func (x impostor) try(t *testing.T, ctx context.Context, f *fate, r route, to int) {
	f.tries.Add(1)
	for again := 0; ; again++ {
		conn, err := dial(ctx, r)
		if err == nil {
			var c *secure.Conn
			if c, err = x.call(ctx, conn, to); err == nil {
				f.accepted.Add(1)
				_ = c.Close()
				return
			}
		}
		if secure.Transient(err) && ctx.Err() == nil && (x.late || again < 100) {
			sleep(ctx, minRetryDelay)
			continue
		}
		// A refusal in words of this package comes back as words.
		if !errors.Is(recognise(err), x.want) {
			f.otherwise.Add(1)
			t.Logf("%s: %v", x.name, err)
		}
		return
	}
}

// besiege has so many impostors of each kind call the processes that others call, while the job forms. It returns what
// has become of those of each kind, and of the processes when they have left.
func (s startup) besiege(t *testing.T, kinds []impostor, count int) ([]fate, []*Mesh) {
	fates := make([]fate, len(kinds))
	var early, late sync.WaitGroup
	ctx := soon(t)
	come := func(routes []route, k, worker int) {
		for n := worker; n < count; n += 2 {
			to := n % claimed
			kinds[k].try(t, ctx, &fates[k], routes[to], to)
		}
	}
	besieged, took := s.form(t, func(routes []route) {
		if len(routes) == 0 {
			return
		}
		for k, x := range kinds {
			group := &early
			if x.late {
				group = &late
			}
			for worker := range 2 {
				group.Go(func() { come(routes, k, worker) })
			}
		}
		early.Wait() // no process has connected to another one yet
	}, late.Wait)
	t.Logf("%s: the job formed after %v", s.name, took)
	return fates, besieged
}

// kept returns how many handshakes these processes say have failed for a reason.
func kept(besieged []*Mesh, reason error) (count int) {
	for _, m := range besieged {
		for _, told := range m.server.Refusals() {
			if !strings.Contains(told, reason.Error()) {
				continue
			}
			n := 1
			if _, last, ok := strings.Cut(told, "(the last of "); ok {
				_, _ = fmt.Sscan(last, &n)
			}
			count += n
		}
	}
	return count
}

// amiss returns what is wrong about what has become of count impostors of each kind.
func amiss(kinds []impostor, count int, fates []fate, besieged []*Mesh) (all []string) {
	wanted := map[error]int{}
	for k, x := range kinds {
		f := &fates[k]
		wanted[x.want] += count
		if f.tries.Load() != int64(count) || f.accepted.Load() > 0 || f.otherwise.Load() > 0 {
			all = append(all, fmt.Sprintf("%s: of %d, %d came, %d were accepted, %d got another error",
				x.name, count, f.tries.Load(), f.accepted.Load(), f.otherwise.Load()))
		}
	}
	for reason, want := range wanted {
		if got := kept(besieged, reason); got != want {
			all = append(all, fmt.Sprintf("the processes have kept %d of %d times: %v", got, want, reason))
		}
	}
	return all
}

// TestImpostors is bar 7: impostors of each kind call all processes that others call while the job forms. It forms,
// none is accepted, and each gets its own error, which the processes keep, too.
func TestImpostors(t *testing.T) {
	leavesNothing(t)
	count := 50
	if soaking() {
		count = 1000
	}
	job := newBoard().config(0, 4)
	kinds := impostors(job, map[bool][][]byte{false: overhear(t, job, false), true: overhear(t, job, true)})
	for _, s := range startups(t) {
		fates, besieged := s.besiege(t, kinds, count)
		for _, fault := range amiss(kinds, count, fates, besieged) {
			t.Errorf("bar 7, %s: %s", s.name, fault)
		}
	}
}

// TestImpostorsAreSeen has impostors come that are as good as if a process did not look at what is wrong with them:
// they know what the real ones do not. Each has to be seen.
func TestImpostorsAreSeen(t *testing.T) {
	leavesNothing(t)
	job := newBoard().config(0, 4)
	says := func(purpose secure.Purpose) func(context.Context, net.Conn, int) (*secure.Conn, error) {
		return func(ctx context.Context, conn net.Conn, to int) (*secure.Conn, error) {
			me := job.Identity
			me.Process = claimed
			return secure.Client(ctx, conn, job.Credentials, me, secure.Hello{To: to, Purpose: purpose, Comm: 7})
		}
	}
	kinds := []impostor{
		{"a wrong secret is accepted", secure.ErrWrongSecret, true, says(secure.Data)},
		{"a wrong secret gets another error", secure.ErrStaleEpoch, true, says(secure.Control)},
	}
	const count = 6
	fates, besieged := startups(t)[0].besiege(t, kinds, count)
	for k, x := range kinds {
		if faults := amiss(kinds[k:k+1], count, fates[k:k+1], besieged); len(faults) != 2 {
			t.Errorf("%s: %q, want a fault of what it got, and one of what the processes have kept", x.name, faults)
		}
	}
	if n := fates[0].accepted.Load(); n != count {
		t.Errorf("%d of %d who know the secret are accepted", n, count)
	}
}
