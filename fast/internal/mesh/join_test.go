package mesh

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// TestJoin has jobs of several sizes form in all ways, and each process send a message to each.
func TestJoin(t *testing.T) {
	for name, way := range ways(t) {
		for _, n := range []int{1, 2, 3, 8} {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				job := newJob(t, n, way)
				for _, m := range job {
					for to := range n {
						m.Send(to, topic(m.Self()), fmt.Appendf(nil, "%d to %d", m.Self(), to))
					}
				}
				for to, m := range job {
					for from := range n {
						got, err := m.Receive(soon(t), topic(from))
						if want := fmt.Sprintf("%d to %d", from, to); err != nil || string(got.Body) != want || got.From != from {
							t.Errorf("%q from %d, %v; want %q", got.Body, got.From, err, want)
						}
					}
				}
				local := name == "local" || (n == 1 && name == "hosts")
				if local != (len(job[0].card.Addresses) == 0) || job[0].Address(0) == "" {
					t.Errorf("process 0 listens on %v, %q", job[0].card.Addresses, job[0].Address(0))
				}
				if same := name != "hosts"; n > 1 && (job[0].Host(0) == job[0].Host(n-1)) != same {
					t.Errorf("hosts %q and %q", job[0].Host(0), job[0].Host(n-1))
				}
			})
		}
	}
}

// TestAbsentOfMany: a process that waits for the cards of few at a time knows all the same who is missing.
func TestAbsentOfMany(t *testing.T) {
	leavesNothing(t)
	const size = 2*maxFetches + 4
	missing := []int{3, 7, size - 1}
	b := newBoard()
	var configs []Config
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var left atomic.Int64 // of cards to publish, and of fetches for which it is their turn
	const asked = 2       // its own, and that of the first process: the others come from that one
	left.Store(int64((size - len(missing)) * (1 + asked)))
	count := func() {
		if left.Add(-1) == 0 {
			cancel()
		}
	}
	for p := range size {
		if slices.Contains(missing, p) {
			continue
		}
		c := b.config(p, size)
		publish, fetch, fetches := c.Publish, c.Fetch, new(atomic.Int64)
		c.Publish = func(ctx context.Context, round string, card []byte) error {
			defer count()
			return publish(ctx, round, card)
		}
		c.Fetch = func(ctx context.Context, round string, process int) ([]byte, error) {
			if fetches.Add(1) <= asked {
				count()
			}
			return fetch(ctx, round, process)
		}
		configs = append(configs, c)
	}
	_, errs := joinAll(ctx, configs...)
	for i, err := range errs {
		var timeout *wire.TimeoutError
		if !errors.As(err, &timeout) || !slices.Equal(timeout.Waiting, missing) {
			t.Errorf("process %d: %v", configs[i].Identity.Process, err)
		}
	}
}

// TestTrickle: Join ends soon after its context, also while processes keep coming.
func TestTrickle(t *testing.T) {
	leavesNothing(t)
	const size = 60
	b := newBoard()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	coming, stop := context.WithCancel(t.Context())
	var come atomic.Int64
	var others sync.WaitGroup
	others.Go(func() {
		for p := 1; p < size-1 && coming.Err() == nil; p++ {
			time.Sleep(80 * time.Millisecond)
			cfg := b.config(p, size)
			c := Card{Process: p, Token: [16]byte{byte(p)}, Host: hostIdentity(), HeartbeatTimeout: cfg.HeartbeatTimeout}
			_ = cfg.Publish(t.Context(), roundHost, c.encode(cfg.Credentials, cfg.Identity))
			come.Add(1)
		}
	})
	_, err := Join(ctx, b.config(0, size))
	n := come.Load()
	stop()
	others.Wait()
	if err == nil || n == size-2 {
		t.Errorf("%v, when all %d had come", err, n)
	}
}

// TestAbsent: who does not come is named by all others.
func TestAbsent(t *testing.T) {
	leavesNothing(t)
	b := newBoard()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, errs := joinAll(ctx, b.config(0, 5), b.config(1, 5), b.config(3, 5))
	for _, err := range errs {
		var timeout *wire.TimeoutError
		if !errors.As(err, &timeout) || !slices.Equal(timeout.Waiting, []int{2, 4}) ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	}
}

// TestForceSome: all processes or none are to use TCP on one host, also one that joins later.
func TestForceSome(t *testing.T) {
	leavesNothing(t)
	b := newBoard()
	configs := []Config{b.config(0, 3), b.config(1, 3), b.config(2, 3)}
	forceTCP(&configs[1])
	_, errs := joinAll(soon(t), configs...)
	for p, err := range errs {
		if want := "ranks [1] are to use TCP alone, and the others are not"; err == nil || !strings.Contains(err.Error(),
			want) {
			t.Errorf("process %d: %v, want %q", p, err, want)
		}
	}
	job := newJob(t, 2, nil)
	other := Card{Process: 2, HeartbeatTimeout: time.Second, ForceTCP: true}
	if err := job[0].Introduce(2, other.encode(job[0].cfg.Credentials, job[0].me)); err == nil {
		t.Error("a process that is to use TCP was let in")
	}
}

// TestEncryptSome: data is encrypted by all processes or by none, also by one that joins later.
func TestEncryptSome(t *testing.T) {
	leavesNothing(t)
	for want, some := range map[string][]int{
		"ranks [1] are to encrypt their data, and the others are not": {1},
		"ranks [2] are not to encrypt their data, and the others are": {0, 1},
	} {
		b := newBoard()
		configs := []Config{b.config(0, 3), b.config(1, 3), b.config(2, 3)}
		for _, p := range some {
			configs[p].Encrypt = true
		}
		_, errs := joinAll(soon(t), configs...)
		for p, err := range errs {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("process %d: %v, want %q", p, err, want)
			}
		}
	}
	job := newJob(t, 2, nil)
	ticket, err := job[1].Invite()
	if err != nil {
		t.Fatal(err)
	}
	encrypted := func(c *Config) { c.Encrypt = true }
	_, err = JoinTicket(soon(t), newcomer(encrypted, ticket), ticket)
	if want := "ranks [2] are to encrypt"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	other := Card{Process: 2, HeartbeatTimeout: time.Second, Encrypt: true}
	if err := job[0].Introduce(2, other.encode(job[0].cfg.Credentials, job[0].me)); err == nil {
		t.Error("a process that encrypts its data was let in")
	}
}

// TestFreezeDiffers: all processes have the same heartbeat timeout, one that joins later too.
func TestFreezeDiffers(t *testing.T) {
	leavesNothing(t)
	b := newBoard()
	configs := []Config{b.config(0, 3), b.config(1, 3), b.config(2, 3)}
	configs[2].HeartbeatTimeout = 200 * time.Second
	_, errs := joinAll(soon(t), configs...)
	for p, err := range errs {
		if want := "the heartbeat timeout is 1m0s on rank 0 and 3m20s on rank 2"; err == nil || !strings.Contains(err.Error(),
			want) {
			t.Errorf("process %d: %v, want %q", p, err, want)
		}
	}
	job := newJob(t, 2, nil)
	ticket, err := job[1].Invite()
	if err != nil {
		t.Fatal(err)
	}
	_, err = JoinTicket(soon(t), newcomer(func(c *Config) { c.HeartbeatTimeout *= 2 }, ticket), ticket)
	if want := "the heartbeat timeout is 1m0s on rank"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	other := Card{Process: 2, HeartbeatTimeout: time.Second}
	if err := job[0].Introduce(2, other.encode(job[0].cfg.Credentials, job[0].me)); err == nil ||
		!strings.Contains(err.Error(), "heartbeat") {
		t.Error("a process with another heartbeat timeout was let in:", err)
	}
}

// TestUnreachable: a process that has published a card and does not connect is named by all, also by those that could
// do without it; and who was refused meanwhile is quoted.
func TestUnreachable(t *testing.T) {
	leavesNothing(t)
	b := newBoard()
	ghost := b.config(3, 4)
	if err := ghost.complete(); err != nil {
		t.Fatal(err)
	}
	silent, err := newMesh(ghost)
	if err != nil {
		t.Fatal(err)
	}
	silent.begin()
	defer silent.Close()
	card := silent.card
	_ = ghost.Publish(t.Context(), roundHost, card.encode(ghost.Credentials, ghost.Identity))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, errs := joinAll(ctx, b.config(0, 4), b.config(1, 4), b.config(2, 4))
	for _, err := range errs {
		var timeout *wire.TimeoutError
		if !errors.As(err, &timeout) || !slices.Equal(timeout.Waiting, []int{3}) {
			t.Error(err)
		}
	}
}

// TestDead: a process whose socket is closed has died, and that is known at once.
func TestDead(t *testing.T) {
	leavesNothing(t)
	b := newBoard()
	dead := b.config(0, 3)
	if err := dead.complete(); err != nil {
		t.Fatal(err)
	}
	card := Card{Process: 0, Host: dead.Host, Socket: "collgen-test-nobody", HeartbeatTimeout: dead.HeartbeatTimeout}
	_ = dead.Publish(t.Context(), roundHost, card.encode(dead.Credentials, dead.Identity))
	_, errs := joinAll(soon(t), b.config(1, 3), b.config(2, 3))
	for _, err := range errs {
		var peer *wire.PeerError
		if !errors.As(err, &peer) || peer.Rank != 0 || !errors.Is(err, wire.ErrDied) {
			t.Error(err)
		}
	}
}

// TestTaken: of two processes with one number the second is refused, and the job forms without it.
func TestTaken(t *testing.T) {
	leavesNothing(t)
	b := newBoard()
	first, second := b.config(1, 3), b.config(1, 3)
	entered := make(chan struct{})
	publish := first.Publish
	first.Publish = func(ctx context.Context, round string, card []byte) error {
		defer close(entered)
		return publish(ctx, round, card)
	}
	second.Publish = func(ctx context.Context, round string, card []byte) error {
		<-entered
		return publish(ctx, round, card)
	}
	meshes, errs := joinAll(soon(t), b.config(0, 3), first, second, b.config(2, 3))
	defer closeAll(meshes)
	for i, err := range errs {
		if (err == nil) != (i != 2) || (i == 2 && !errors.Is(err, ErrTaken)) {
			t.Error(i, err)
		}
	}
}

// TestTakenLater: a second process is refused by the others too, if the store shows everybody its own card.
func TestTakenLater(t *testing.T) {
	leavesNothing(t)
	b := newBoard()
	meshes, errs := joinAll(soon(t), b.config(0, 2), b.config(1, 2))
	defer closeAll(meshes)
	second := b.config(1, 2)
	var own []byte
	second.Publish = func(_ context.Context, _ string, card []byte) error {
		own = card
		return nil
	}
	second.Fetch = func(ctx context.Context, round string, process int) ([]byte, error) {
		if process == 1 {
			return own, nil
		}
		return b.fetch(ctx, round, process)
	}
	_, err := Join(soon(t), second)
	if !errors.Is(err, ErrTaken) || errors.Join(errs...) != nil {
		t.Error(err, errs)
	}
	if err := meshes[0].Down(1); err != nil {
		t.Error("the first one is down:", err)
	}
}

// TestRefused: processes that do not belong to the job are told why, and it forms without them.
func TestRefused(t *testing.T) {
	for name, x := range map[string]struct {
		change func(*Config)
		want   error
	}{
		"secret": {func(c *Config) { c.Credentials = secure.FromSecret(secure.Secret{9}) }, secure.ErrWrongSecret},
		"job":    {func(c *Config) { c.Identity.Job = "other" }, secure.ErrWrongJob},
		"epoch":  {func(c *Config) { c.Identity.Epoch = 2 }, secure.ErrStaleEpoch},
		"size":   {func(c *Config) { c.Identity.Size = 3 }, secure.ErrWrongSize},
	} {
		t.Run(name, func(t *testing.T) {
			job := newJob(t, 2, nil)
			c := newBoard().config(1, 2)
			x.change(&c)
			m, err := newMesh(c)
			if err != nil {
				t.Fatal(err)
			}
			m.begin()
			defer m.Close()
			card := job[0].cardOf(0)
			err = m.dialControl(soon(t), card, secure.Hello{Purpose: secure.Control, Token: m.card.Token})
			var peer *wire.PeerError
			if !errors.Is(err, x.want) || !errors.As(err, &peer) || peer.Rank != 0 {
				t.Errorf("%v, want %v", err, x.want)
			}
			eventually(t, func() bool { // on a busy machine, beside tries that took too long
				return strings.Contains(strings.Join(job[0].server.Refusals(), "; "), x.want.Error())
			})
		})
	}
}

// TestFalseCards: a card that was changed on its way is refused, and so is that of another process.
func TestFalseCards(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"changed": func(b []byte) []byte { b[30] ^= 1; return b },
		"cut":     func(b []byte) []byte { return b[:len(b)/2] },
		"empty":   func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			leavesNothing(t)
			b := newBoard()
			c := b.config(0, 2)
			fetch := c.Fetch
			c.Fetch = func(ctx context.Context, round string, process int) ([]byte, error) {
				card, err := fetch(ctx, round, process)
				if process == 1 {
					card = change(slices.Clone(card))
				}
				return card, err
			}
			ctx, cancel := context.WithCancel(soon(t))
			_ = b.publish(1)(ctx, roundHost, new(Card).encode(c.Credentials, c.Identity))
			_, err := Join(ctx, c)
			cancel()
			var peer *wire.PeerError
			if !errors.As(err, &peer) || peer.Rank != 1 {
				t.Error(err)
			}
		})
	}
}

// TestOtherVersion: a process that runs another version is told from one whose card is broken, however short its cards
// are.
func TestOtherVersion(t *testing.T) {
	leavesNothing(t)
	for name, body := range map[string][]byte{"older": {cardVersion - 1, 1, 0, 0, 0},
		"newer": append([]byte{cardVersion + 1}, make([]byte, 900)...)} {
		b := newBoard()
		c := b.config(0, 2)
		_ = b.publish(1)(t.Context(), roundHost, append(body, cardMAC(c.Credentials, c.Identity, body)...))
		_, err := Join(soon(t), c)
		var peer *wire.PeerError
		want := fmt.Sprintf("it runs another version of collgen (%d, here %d)", body[0], cardVersion)
		if !errors.As(err, &peer) || peer.Rank != 1 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestNoAddress: when a process has no address for others, it says so, and the others hear of it.
func TestNoAddress(t *testing.T) {
	loopback := func() ([]netip.Addr, string, error) {
		return []netip.Addr{netip.IPv6Loopback()}, "there is no other", nil
	}
	for name, addresses := range map[string]func() ([]netip.Addr, string, error){
		"none": nil, "loopback": loopback,
		"error": func() ([]netip.Addr, string, error) { return nil, "", os.ErrNotExist },
	} {
		t.Run(name, func(t *testing.T) {
			leavesNothing(t)
			b, change := newBoard(), hosts(t)
			x, y := b.config(0, 2), b.config(1, 2)
			change(&x)
			change(&y)
			y.Addresses = addresses
			_, errs := joinAll(soon(t), x, y)
			var peer *wire.PeerError
			if errs[1] == nil || !errors.As(errs[0], &peer) || peer.Rank != 1 || !strings.Contains(errs[0].Error(),
				errs[1].Error()) {
				t.Error(errs)
			}
		})
	}
}

// TestFault: a process that cannot take part fails with what it says, and the others, also who comes later, hear of it.
func TestFault(t *testing.T) {
	leavesNothing(t)
	b := newBoard()
	x, y, late := b.config(0, 3), b.config(1, 3), b.config(2, 3)
	y.Fault = os.ErrNotExist
	fetch := late.Fetch
	late.Fetch = func(ctx context.Context, round string, process int) ([]byte, error) {
		time.Sleep(2 * goodbyeWait)
		return fetch(ctx, round, process)
	}
	_, errs := joinAll(soon(t), x, y, late)
	for p, err := range errs {
		var peer *wire.PeerError
		if named := errors.As(err, &peer) && peer.Rank == 1; err == nil || named != (p != 1) {
			t.Errorf("process %d: %v", p, err)
		}
	}
	if !errors.Is(errs[1], os.ErrNotExist) || !strings.Contains(fmt.Sprint(errs[0]), os.ErrNotExist.Error()) {
		t.Error(errs) // who comes later may hear first from process 0 that process 1 has given up
	}
}

// TestCancel: joining ends with its context, at any time, and then is over for all.
func TestCancel(t *testing.T) {
	tries, failed := 40, 0
	if testing.Short() {
		tries = 20
	}
	leavesNothing(t)
	for i := range tries {
		b := newBoard()
		ctx, cancel := context.WithCancel(soon(t))
		time.AfterFunc(time.Duration(i)*500*time.Microsecond, cancel)
		errs := make([]error, 3)
		together(3, func(p int) {
			join := soon(t)
			if p == 2 {
				join = ctx
			}
			var m *Mesh
			if m, errs[p] = Join(join, b.config(p, 3)); m == nil {
				return
			}
			eventually(t, func() bool { return p == 2 || m.Down(2) != nil })
			m.Close()
		})
		if errs[2] != nil {
			failed++
		}
	}
	t.Logf("%d of %d jobs were cancelled before they had formed", failed, tries)
}

// TestConfig: what makes no sense is refused.
func TestConfig(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"process":     func(c *Config) { c.Identity.Process = -1 },
		"size":        func(c *Config) { c.Identity.Size = 0 },
		"credentials": func(c *Config) { c.Credentials = nil },
		"freeze":      func(c *Config) { c.HeartbeatTimeout = -time.Second },
		"host":        func(c *Config) { c.Host = strings.Repeat("x", 200) },
		"host text":   func(c *Config) { c.Host = "a\nb" },
	} {
		c := newBoard().config(0, 1)
		change(&c)
		if _, err := Join(t.Context(), c); !errors.Is(err, wire.ErrInvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
