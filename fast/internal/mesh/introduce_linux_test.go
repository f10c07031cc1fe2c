package mesh

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// introduced reports whether another process has made m's connection to process.
func introduced(m *Mesh, process int) bool {
	_, ok := m.peer(process).conn.(*fdConn)
	return ok
}

// keyless are credentials that no two processes have in common.
type keyless struct{ secure.Credentials }

func (keyless) Key(secure.Identity, string) []byte { return nil }

// TestIntroduced: the first process of each host has a handshake with all others; those of one host have none among
// each other, unless each has a certificate of its own. Messages come with their files in any case.
func TestIntroduced(t *testing.T) {
	two := hosts(t)
	for name, x := range map[string]struct {
		sizes  []int
		change func(*Config)
		host   func(process int) int // -1: none is introduced
	}{
		"one host": {[]int{2, 3, 4, 7, 24}, nil, func(int) int { return 0 }},
		"tcp":      {[]int{5}, forceTCP, func(int) int { return 0 }},
		"two hosts": {[]int{7}, func(c *Config) {
			two(c)
			c.Host = fmt.Sprint("host", c.Identity.Process%2)
		}, func(process int) int { return process % 2 }},
		"certificates": {[]int{4}, func(c *Config) { c.Credentials = keyless{c.Credentials} }, func(int) int { return -1 }},
	} {
		for _, n := range x.sizes {
			job := newJob(t, n, x.change)
			for p, m := range job {
				for q := range n {
					if p == q {
						continue
					}
					want := x.host(p) >= 0 && x.host(p) == x.host(q) && p != x.host(p) && q != x.host(q)
					if got := introduced(m, q); got != want {
						t.Errorf("%s: process %d of %d is introduced to %d: %v", name, p, n, q, got)
					}
					m.Send(q, topic(p), []byte{byte(q)}, 0)
				}
			}
			for p, m := range job {
				for q := range n {
					if p == q {
						continue
					}
					note, err := m.ReceiveFiles(soon(t), topic(q))
					files := 1
					if x.host(p) != x.host(q) {
						files = 0
					}
					if err != nil || note.From != q || len(note.Files) != files {
						t.Fatalf("%s: process %d hears from %d: %+v, %v", name, p, q, note, err)
					}
					note.CloseFiles()
				}
			}
			closeAll(job)
		}
	}
}

// TestFewFetches: only the first process of a host fetches all cards; the others get them from it.
func TestFewFetches(t *testing.T) {
	two := hosts(t)
	for name, x := range map[string]struct {
		change func(*Config)
		most   int // cards that processes other than the first one of their host fetch
	}{
		"one host": {nil, 1 + maxFetches},
		"tcp":      {forceTCP, 1 + maxFetches},
		"two hosts": {func(c *Config) {
			two(c)
			c.Host = fmt.Sprint("host", c.Identity.Process%2)
		}, 2 * (1 + maxFetches)},
	} {
		const size = 24
		var fetches [size]atomic.Int64
		job := newJob(t, size, func(c *Config) {
			if x.change != nil {
				x.change(c)
			}
			fetch, n := c.Fetch, &fetches[c.Identity.Process]
			c.Fetch = func(ctx context.Context, round string, process int) ([]byte, error) {
				n.Add(1)
				return fetch(ctx, round, process)
			}
		})
		for p, m := range job {
			if n := int(fetches[p].Load()); p > 1 && n > x.most {
				t.Errorf("%s: process %d fetches %d cards, want at most %d", name, p, n, x.most)
			}
			for q := range size {
				if m.Host(q) == "" || m.Address(q) != job[q].Address(q) {
					t.Errorf("%s: process %d takes %d for one on host %q at %q, not %q", name, p, q, m.Host(q), m.Address(q),
						job[q].Address(q))
				}
			}
		}
		closeAll(job)
	}
}

// TestFalselyPassedOn: cards that the first process of the host may not pass on are refused.
func TestFalselyPassedOn(t *testing.T) {
	pass := func(from int, card []byte) wire.Note {
		return wire.Note{From: from, Body: append([]byte{byte(len(card)), byte(len(card) >> 8)}, card...)}
	}
	for name, x := range map[string]struct {
		change func(*Card)
		from   int
		cut    int // bytes that are missing
		want   string
	}{
		"right":         {func(*Card) {}, 0, 0, ""},
		"not the first": {func(*Card) {}, 1, 0, "for rank 0 to do"},
		"nobody's":      {func(c *Card) { c.Process = 5 }, 0, 0, "the card of rank 5"},
		"cut off":       {func(*Card) {}, 0, 1, "it passes on a card"},
	} {
		j, card := next(t)
		n := pass(x.from, card(x.change))
		n.Body = n.Body[:len(n.Body)-x.cut]
		if err := j.acceptCards(n); (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
		if known := j.cardOf(3).Host != ""; known != (x.want == "") {
			t.Errorf("%s: the process is known: %v", name, known)
		}
	}
	j, card := next(t)
	for token, want := range []error{nil, ErrTaken} {
		if err := j.acceptCards(pass(0,
			card(func(c *Card) { c.Process, c.Token = 2, j.card.Token; c.Token[0] += byte(token) }))); err != nil {
			t.Error(err)
		}
		if _, err := j.reasons.best(); !errors.Is(err, want) {
			t.Errorf("its own number, token %d: %v", token, err)
		}
	}
}

// TestIntroducedProcess: a process knows which one it was introduced to without hearing of it, and that it is stopped.
func TestIntroducedProcess(t *testing.T) {
	leavesNothing(t)
	s := shelf(t.TempDir())
	o := s.launch(t, 1, "three")
	job, errs := joinAll(soon(t), s.config(0, "three"), s.config(2, "three"))
	t.Cleanup(func() { closeAll(job) })
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	o.joined(t)
	p := job[1].peer(1)
	if !p.unmet.Load() || p.beats.Load() == nil || !p.counted.Load() {
		t.Error("the processes need a message to know of each other")
	}
	if int(p.pid.Load()) != o.Process.Pid {
		t.Errorf("process %d is taken for %d", o.Process.Pid, p.pid.Load())
	}
	heard := watch(job[1])
	if err := o.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if x := heard.next(t); x.process != 1 || !errors.Is(x.err, wire.ErrFrozen) || !strings.Contains(x.err.Error(),
		string(stopped)) {
		t.Errorf("%+v", x)
	}
}

// TestOfOtherUser: what a process of another user has written, or the system does not say which one, is not taken.
func TestOfOtherUser(t *testing.T) {
	defer func() { realUser = os.Getuid }()
	for name, x := range map[string]struct {
		user  func() int
		names int // whether the system says who writes
		want  string
	}{
		"this user":    {os.Getuid, 1, ""},
		"another user": {func() int { return os.Getuid() + 1 }, 1, "belongs to user"},
		"nobody":       {os.Getuid, 0, "does not say"},
	} {
		ends, err := socketPair()
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.SetsockoptInt(ends[0], unix.SOL_SOCKET, unix.SO_PASSCRED, x.names); err != nil {
			t.Fatal(err)
		}
		c, err := newSocketEnd(ends[0])
		if err != nil {
			t.Fatal(err)
		}
		c.open()
		realUser = x.user
		before := descriptors(t)
		for i := range 2 {
			if err := unix.Sendmsg(ends[1], []byte{1}, unix.UnixRights(0), nil, 0); err != nil {
				t.Fatal(err)
			}
			c.trust()
			n, err := c.Read(make([]byte, 1))
			if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
				t.Errorf("%s, message %d: %v, want %q", name, i, err, x.want)
			}
			if err != nil && (n > 0 || len(c.in) > 0 || descriptors(t) != before) {
				t.Errorf("%s: %d bytes are read, %d files kept, %d open, %d before", name, n, len(c.in), descriptors(t), before)
			}
			if err != nil {
				break
			}
		}
		if names, err := unix.GetsockoptInt(ends[1], unix.SOL_SOCKET, unix.SO_PASSCRED); err != nil || names != 1 {
			t.Errorf("%s: the other end: %d, %v", name, names, err)
		}
		_, _ = c.Close(), unix.Close(ends[1])
	}
}

// TestUnmet: a process that has not come to use a connection that another one has made for it has the time that slow
// ones have.
func TestUnmet(t *testing.T) {
	for comes, want := range map[int64]int64{patience / 2 * turns: patience/2*turns + turns,
		1000 * turns: patience * turns} {
		p := new(peer)
		p.unmet.Store(true)
		given, _, _ := watching(t, p, nil, func(_ *detector, turn int64) {
			if turn == comes {
				p.heard.Store(turn * 2 * second / turns)
				p.unmet.Store(false)
			}
		})
		if given <= want || given > want+2 {
			t.Errorf("it comes at turn %d: given up at turn %d, want %d", comes, given, want)
		}
	}
}

// TestFewDescriptors: the first process of a host introduces as many others as it can have connections to, however few
// descriptors are left besides.
func TestFewDescriptors(t *testing.T) {
	leavesNothing(t)
	s := shelf(t.TempDir())
	const first = 23 + 20 // its connections, and what every process has open
	o := s.launch(t, 0, "many", "sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0"`, first))
	var configs []Config
	for p := 1; p < 24; p++ {
		configs = append(configs, s.config(p, "many"))
	}
	job, errs := joinAll(soon(t), configs...)
	t.Cleanup(func() { closeAll(job) })
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	o.joined(t)
}

// TestNoDescriptors: a process that has no descriptors for connections says so of itself, whether it introduces others
// or is introduced.
func TestNoDescriptors(t *testing.T) {
	j, _ := next(t)
	j.onDown(3, wire.Exhausted(syscall.ETOOMANYREFS))
	err := j.acceptIntroductions(&wire.Note{Lost: true})
	_, told := j.reasons.best()
	for _, err := range []error{err, told} {
		var peer *wire.PeerError
		if errors.As(err, &peer) || !errors.Is(err, wire.ErrExhausted) || !strings.Contains(err.Error(), "this process") {
			t.Errorf("%v", err)
		}
	}
}

// TestIntroducerGone: who is introduced to another process, and finds the connection closed before that one was heard
// of, does not hold it against that one if the introducer has died.
func TestIntroducerGone(t *testing.T) {
	j, card := next(t)
	ends, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	heard := watch(j.Mesh)
	if err := j.acceptIntroductions(meeting(0, [][]byte{card(func(*Card) {})}, ends[0])); err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(ends[1])
	if x := heard.next(t); x.process != 3 || !errors.Is(x.err, wire.ErrDied) {
		t.Errorf("%+v", x)
	}
	j.down(0, wire.ErrDied, nil)
	heard.next(t)
	eventually(t, func() bool {
		w, _ := j.reasons.best()
		return w > weak
	})
	_, err = j.reasons.best()
	var peer *wire.PeerError
	if !errors.As(err, &peer) || peer.Rank != 0 {
		t.Errorf("%v", err)
	}
}

// TestTakenConnected: a card does not take the place of that of a process which is connected.
func TestTakenConnected(t *testing.T) {
	j, card := next(t)
	ends, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[1])
	if err := j.acceptIntroductions(meeting(0, [][]byte{card(func(*Card) {})}, ends[0])); err != nil {
		t.Fatal(err)
	}
	j.cfg.Fetch = func(context.Context, string, int) ([]byte, error) {
		return card(func(c *Card) { c.Token = [16]byte{1} }), nil
	}
	if _, ok := j.fetch(roundHost, 3); ok {
		t.Error("another card is taken")
	}
	_, err = j.reasons.best()
	var peer *wire.PeerError
	if !errors.As(err, &peer) || peer.Rank != 3 || !errors.Is(err, ErrTaken) {
		t.Errorf("%v", err)
	}
}

// TestLooked: who only looks whether a process listens is no stranger to it.
func TestLooked(t *testing.T) {
	job := newJob(t, 2, nil)
	c := job[0].cardOf(1)
	routes, err := job[0].routesTo(&c, secure.Control)
	if err != nil || nobodyListens(t.Context(), routes) {
		t.Fatal(err)
	}
	stranger, err := dialLocal(t.Context(), c.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if _, err := stranger.Write([]byte("GET")); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return len(job[1].server.Refusals()) > 0 })
	if told := strings.Join(job[1].server.Refusals(), "; "); !strings.Contains(told, `"GET"`) ||
		strings.Contains(told, "nothing") {
		t.Error(told)
	}
}

// TestGoneBeforeFirst: a process of this host that has published its card and is gone is found, although the first
// process of the host, which would introduce it, has not come.
func TestGoneBeforeFirst(t *testing.T) {
	b := newBoard()
	dead := b.config(1, 3)
	c := Card{Process: 1, Token: [16]byte{1}, Host: hostIdentity(), Socket: "collgen-nobody-listens",
		HeartbeatTimeout: dead.HeartbeatTimeout}
	if err := b.publish(1)(t.Context(), roundHost, c.encode(dead.Credentials, dead.Identity)); err != nil {
		t.Fatal(err)
	}
	_, err := Join(soon(t), b.config(2, 3))
	var peer *wire.PeerError
	if !errors.As(err, &peer) || peer.Rank != 1 || !errors.Is(err, wire.ErrDied) {
		t.Errorf("%v", err)
	}
}

// TestStoreCloses: the card of a process to which this one was introduced need not be fetched, as far as it tells what
// the round is for: the store may be closed.
func TestStoreCloses(t *testing.T) {
	j, _ := next(t)
	j.cfg.Fetch = func(context.Context, string, int) ([]byte, error) { return nil, errors.New("the store is closed") }
	for _, x := range []struct {
		c             Card
		host, address bool
	}{
		{Card{Process: 3, Host: "host"}, true, false},
		{Card{Process: 3, Host: "host", Addresses: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:7")}}, true, true},
		{Card{Process: 4}, false, false},
	} {
		if x.c.Host != "" {
			j.know(x.c, []byte{1})
		}
		_, host := j.fetch(roundHost, x.c.Process)
		_, address := j.fetch(roundAddress, x.c.Process)
		if host != x.host || address != x.address {
			t.Errorf("%+v: fetched %v, %v, want %v, %v", x.c, host, address, x.host, x.address)
		}
	}
}

// TestLaterCard: a card with addresses is not replaced by one of the first round that comes later, and a card of
// another process is taken.
func TestLaterCard(t *testing.T) {
	j, _ := next(t)
	early := Card{Process: 3, Token: [16]byte{7}, Host: "host"}
	late, another := early, early
	late.Addresses, another.Token = []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:7")}, [16]byte{8}
	for i, c := range []Card{early, late, early, another} {
		j.know(c, []byte{byte(i)})
		if got, want := len(j.cardOf(3).Addresses), []int{0, 1, 1, 0}[i]; got != want {
			t.Errorf("after card %d there are %d addresses, want %d", i, got, want)
		}
	}
}

// meeting returns a message that introduces the processes of cards, by files.
func meeting(from int, cards [][]byte, files ...int) *wire.Note {
	n := &wire.Note{Topic: wire.Topic{Comm: meshComm, Kind: kindIntroduce}, From: from, Files: files}
	var v introductions
	v.begin(nil)
	for _, c := range cards {
		v.add(-1, &hostPeer{card: c, peer: new(peer)})
	}
	n.Body = v.body
	return n
}

// invited is process 2 of 5, which process 0 introduces to others, and the card of one of these.
func next(t testing.TB) (*joining, func(change func(*Card)) []byte) {
	cfg := newBoard().config(2, 5)
	cfg.Host = "host"
	m, err := newMesh(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m.card = Card{Process: 2, Host: "host", Socket: "socket", HeartbeatTimeout: time.Minute}
	j := newJoining(t.Context(), m)
	t.Cleanup(func() {
		j.end()
		m.finish()
	})
	return j, func(change func(*Card)) []byte {
		c := Card{Process: 3, Token: [16]byte{7}, Host: "host", Socket: "other", HeartbeatTimeout: time.Minute}
		change(&c)
		return c.encode(cfg.Credentials, cfg.Identity)
	}
}

// TestFalseIntroductions: what the first process of a host may not say is refused, and no file is left open.
func TestFalseIntroductions(t *testing.T) {
	nothing := func(*Card) {}
	file := func(kind int) int {
		fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = unix.Close(fds[1])
		return fds[0]
	}
	null := func() int {
		fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	for name, x := range map[string]struct {
		make func(card func(func(*Card)) []byte) *wire.Note
		want string
	}{
		"right": {func(card func(func(*Card)) []byte) *wire.Note {
			return meeting(0, [][]byte{card(nothing)}, file(unix.SOCK_STREAM))
		}, ""},
		"not the first": {func(card func(func(*Card)) []byte) *wire.Note {
			return meeting(1, [][]byte{card(nothing)}, file(unix.SOCK_STREAM))
		}, "for rank 0 to do"},
		"lost": {func(card func(func(*Card)) []byte) *wire.Note {
			n := meeting(0, [][]byte{card(nothing)})
			n.Lost = true
			return n
		}, "this process cannot take connections"},
		"too few files": {func(card func(func(*Card)) []byte) *wire.Note { return meeting(0, [][]byte{card(nothing)}) },
			"without files"},
		"too many files": {func(card func(func(*Card)) []byte) *wire.Note {
			return meeting(0, [][]byte{card(nothing)}, file(unix.SOCK_STREAM), null())
		}, "left over"},
		"heartbeats that are none": {func(card func(func(*Card)) []byte) *wire.Note {
			n := meeting(0, [][]byte{card(nothing)}, null(), file(unix.SOCK_STREAM))
			n.Body[8] = 1
			return n
		}, errBeats.Error()},
		"heartbeats that do not come": {func(card func(func(*Card)) []byte) *wire.Note {
			n := meeting(0, [][]byte{card(nothing)}, file(unix.SOCK_STREAM))
			n.Body[8] = 1
			return n
		}, errBeats.Error()},
		"no connection": {func(card func(func(*Card)) []byte) *wire.Note {
			return meeting(0, [][]byte{card(nothing)},
				null())
		}, "rank 3"},
		"packets": {func(card func(func(*Card)) []byte) *wire.Note {
			return meeting(0, [][]byte{card(nothing)}, file(unix.SOCK_SEQPACKET))
		}, "of domain 1 and type 5"},
		"itself": {func(card func(func(*Card)) []byte) *wire.Note {
			return meeting(0, [][]byte{card(func(c *Card) { c.Process = 0 })}, file(unix.SOCK_STREAM))
		}, "not for it"},
		"this one": {func(card func(func(*Card)) []byte) *wire.Note {
			return meeting(0, [][]byte{card(func(c *Card) { c.Process = 2 })}, file(unix.SOCK_STREAM))
		}, "not for it"},
		"nobody": {func(card func(func(*Card)) []byte) *wire.Note {
			return meeting(0, [][]byte{card(func(c *Card) { c.Process = 5 })}, file(unix.SOCK_STREAM))
		}, "not for it"},
		"another host": {func(card func(func(*Card)) []byte) *wire.Note {
			return meeting(0, [][]byte{card(func(c *Card) { c.Host = "elsewhere" })}, file(unix.SOCK_STREAM))
		}, "not for it"},
		"another one of that number": {func(card func(func(*Card)) []byte) *wire.Note {
			return meeting(0, [][]byte{card(func(c *Card) { c.Process, c.Token = 4, [16]byte{1} })}, file(unix.SOCK_STREAM))
		}, ErrTaken.Error()},
		"a card that is cut off": {func(card func(func(*Card)) []byte) *wire.Note {
			return meeting(0, [][]byte{card(nothing)[:40]}, file(unix.SOCK_STREAM))
		}, "its card"},
		"of another job": {func(card func(func(*Card)) []byte) *wire.Note {
			c := card(nothing)
			c[len(c)-1]++
			return meeting(0, [][]byte{c}, file(unix.SOCK_STREAM))
		}, "its card"},
	} {
		before := descriptors(t)
		t.Run(name, func(t *testing.T) {
			j, card := next(t)
			j.know(Card{Process: 4, Token: [16]byte{2}, Host: "host", Socket: "fourth"}, []byte{1})
			n := x.make(card)
			err := j.acceptIntroductions(n)
			n.CloseFiles()
			if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v, want %q", err, x.want)
			}
			if name == "lost" && !errors.Is(err, wire.ErrExhausted) {
				t.Error(err)
			}
			if err == nil && j.peer(3) == nil {
				t.Error("there is no connection")
			}
		})
		if after := descriptors(t); after > before {
			t.Errorf("%s: %d files are open, %d before", name, after, before)
		}
	}
}

// TestCutOffIntroductions: bytes that introduce nobody are refused.
func TestCutOffIntroductions(t *testing.T) {
	j, _ := next(t)
	for n := range 9 {
		if err := j.acceptIntroductions(&wire.Note{From: 0, Body: make([]byte, n)}); err == nil {
			t.Errorf("%d bytes are taken", n)
		}
	}
}

// TestLittleRoom: with few descriptors, the introducer waits until it can introduce somebody.
func TestLittleRoom(t *testing.T) {
	j, _ := next(t)
	i := &introducer{joining: j, locals: make([]*hostPeer, 5), room: 7}
	i.locals[2] = &hostPeer{process: 2, peer: new(peer), busy: true, sent: 4}
	i.locals[3] = &hostPeer{process: 3, peer: new(peer)}
	i.locals[4] = &hostPeer{process: 4, peer: new(peer), unmet: []*hostPeer{i.locals[3]}}
	j.mu.Lock()
	defer j.mu.Unlock()
	if i.ready() {
		t.Error("it is ready, without room for an introduction")
	}
	if i.locals[2].busy, i.locals[2].sent = false, 0; !i.ready() {
		t.Error("it is not ready, with room for one")
	}
}

// TestIntroducedAgain: a process that is introduced twice has one connection, and one tally is taken.
func TestIntroducedAgain(t *testing.T) {
	j, card := next(t)
	before := descriptors(t)
	for i := range 3 {
		ends, err := socketPair()
		if err != nil {
			t.Fatal(err)
		}
		defer closeFiles(ends[1:])
		tally, err := newTally(5)
		if err != nil {
			t.Fatal(err)
		}
		defer tally.close()
		files, err := copyFiles([]int{tally.file})
		if err != nil {
			t.Fatal(err)
		}
		n := meeting(0, [][]byte{card(func(*Card) {})}, append(files, ends[0])...)
		n.Body[8] = 1
		if err := j.acceptIntroductions(n); (err == nil) != (i == 0) || i > 0 && !errors.Is(err, errBeats) {
			t.Errorf("tally %d: %v", i, err)
		}
		n.CloseFiles()
		if ends, err = socketPair(); err != nil {
			t.Fatal(err)
		}
		defer closeFiles(ends[1:])
		if err := j.acceptIntroductions(meeting(0, [][]byte{card(func(*Card) {})}, ends[0])); err != nil {
			t.Error(err)
		}
	}
	// The others' ends, the tallies, the first connection, and the epoll file.
	if n := descriptors(t) - before; n != 6+3+1+1 {
		t.Errorf("%d files are open", n)
	}
	if p := j.peer(3); !p.counted.Load() || p.beats.Load() == nil {
		t.Error("its heartbeats are not read")
	}
}

// FuzzIntroduction: whatever a message introduces is refused or taken, and no file stays open that is not used.
func FuzzIntroduction(f *testing.F) {
	j, card := next(f)
	whole := meeting(0, [][]byte{card(func(*Card) {}), card(func(c *Card) { c.Process = 4 })}).Body
	for n := range len(whole) + 1 {
		f.Add(whole[:n], uint8(2))
	}
	f.Fuzz(func(t *testing.T, body []byte, files uint8) {
		n := &wire.Note{From: 0, Body: body}
		for range files % (maxFiles + 1) {
			fd, err := unix.Dup(0)
			if err != nil {
				t.Fatal(err)
			}
			n.Files = append(n.Files, fd)
		}
		if err := j.acceptIntroductions(n); err == nil && len(body)+int(files%(maxFiles+1)) > 0 {
			t.Error("a file that is no connection is taken")
		}
		n.CloseFiles()
	})
}
