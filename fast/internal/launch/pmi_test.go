package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// mpiexec is a launcher that speaks PMI-1 with size processes.
type mpiexec struct {
	size, vallen int

	mu     sync.Mutex
	values map[string]string // those that all processes see
	put    map[string]string // those since the last barrier
	inside []io.Writer       // who is at the barrier
	ended  int               // who has said finalize
}

func newMpiexec(size, vallen int) *mpiexec {
	return &mpiexec{size: size, vallen: vallen, values: make(map[string]string), put: make(map[string]string)}
}

// serve answers one process, one command per read, as Slurm does.
func (m *mpiexec) serve(c net.Conn) {
	defer c.Close()
	b := make([]byte, 1024)
	for {
		n, err := c.Read(b)
		if err != nil {
			return
		}
		fields, err := parseAnswer(strings.TrimSuffix(string(b[:n]), "\n"))
		if err != nil || b[n-1] != '\n' {
			return
		}
		m.answer(c, fields)
	}
}

func (m *mpiexec) answer(c io.Writer, f answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch f["cmd"] {
	case "init":
		fmt.Fprintln(c, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0")
	case "get_maxes":
		fmt.Fprintf(c, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=%d\n", m.vallen)
	case "get_my_kvsname":
		fmt.Fprintln(c, "cmd=my_kvsname kvsname=kvs_1_0")
	case "put":
		if _, twice := m.put[f["key"]]; twice || len(f["value"]) >= m.vallen || len(f["key"]) >= 64 ||
			f["kvsname"] != "kvs_1_0" {
			fmt.Fprintln(c, "cmd=put_result rc=-1 msg=duplicate_or_long")
			return
		}
		m.put[f["key"]] = f["value"]
		fmt.Fprintln(c, "cmd=put_result rc=0 msg=success")
	case "get":
		if v, ok := m.values[f["key"]]; ok {
			fmt.Fprintln(c, "cmd=get_result rc=0 msg=success value="+v)
			return
		}
		fmt.Fprintln(c, "cmd=get_result rc=-1 msg=key_not_found")
	case "barrier_in":
		m.barrier(c)
	case "finalize":
		m.ended++
		fmt.Fprintln(c, "cmd=finalize_ack rc=0")
	}
}

func (m *mpiexec) barrier(c io.Writer) {
	if m.inside = append(m.inside, c); len(m.inside) < m.size {
		return
	}
	for k, v := range m.put {
		m.values[k] = v
	}
	for _, c := range m.inside {
		go fmt.Fprintln(c, "cmd=barrier_out rc=0")
	}
	m.inside = nil
}

// connect returns a process's end of its connection with m.
func (m *mpiexec) connect() net.Conn {
	near, far := net.Pipe()
	go m.serve(far)
	return near
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// TestKVS is a job: a secret, then two rounds in which each process sets a value and gets all others'.
func TestKVS(t *testing.T) {
	const size = 4
	m := newMpiexec(size, 128)
	secrets := make([][]byte, size)
	var all sync.WaitGroup
	for rank := range size {
		all.Go(func() {
			ctx := within(t, 30*time.Second)
			k, err := newKVS(ctx, m.connect(), rank)
			if err != nil {
				t.Error(err)
				return
			}
			if secrets[rank], err = k.Secret(ctx); err != nil {
				t.Error(err)
			}
			for round := range 2 {
				key := func(rank int) string { return fmt.Sprint("a job with spaces=/", round, "/", rank) }
				value := func(rank int) []byte { return bytes.Repeat([]byte{byte(rank), 0, '\n'}, 500*rank*round) }
				if err := k.Set(ctx, key(rank), value(rank)); err != nil {
					t.Error(err)
				}
				for other := range size {
					if got, err := k.Get(ctx, key(other)); err != nil || !bytes.Equal(got, value(other)) {
						t.Errorf("rank %d of rank %d: %d bytes, %v", rank, other, len(got), err)
					}
				}
			}
			if err := errors.Join(k.Delete(ctx, "x"), k.Close()); err != nil {
				t.Error(err)
			}
			if err := k.Set(ctx, "late", nil); err == nil {
				t.Error("a store that is closed takes a value")
			}
		})
	}
	all.Wait()
	for _, s := range secrets {
		if len(s) != 32 || !bytes.Equal(s, secrets[0]) {
			t.Error("the secrets differ")
		}
	}
	for k, v := range m.values {
		if len(k) > keyBytes || strings.ContainsAny(v, "= \n") {
			t.Errorf("%q=%q", k, v)
		}
	}
	if m.ended != size {
		t.Errorf("%d of %d said finalize", m.ended, size)
	}
}

// TestKVSErrors: what is not there, what is not ours, and a barrier that others do not come to.
func TestKVSErrors(t *testing.T) {
	open := func() *KVS {
		m := newMpiexec(2, 1024)
		m.values[partKey("strange", 0)] = "no.count"
		k, err := newKVS(t.Context(), m.connect(), 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = k.Close() })
		return k
	}
	for key, want := range map[string]string{
		"absent": `answers that it failed: "-1" "key_not_found"`, "strange": "not one of collgen's",
	} {
		if _, err := open().Get(t.Context(), key); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	k := open()
	start := time.Now()
	_, err := k.Secret(within(t, 20*time.Millisecond))
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	if err := k.Set(t.Context(), "then", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("then: %v", err)
	}
}

// TestKVSHostile has a launcher that answers with nonsense, or goes.
func TestKVSHostile(t *testing.T) {
	const start = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
	for answers, want := range map[string]string{
		"": "PMI: init: EOF",
		"cmd=response_to_init pmi_version=2 rc=0\n":                         `wants version "2"`,
		"cmd=response_to_init rc=1\n":                                       "that it failed",
		"cmd=maxes\n":                                                       `answers "maxes", want "response_to_init"`,
		"HTTP/1.1 400 Bad Request\n":                                        "something else than name=value",
		"cmd=a cmd=b\n":                                                     "something else than name=value",
		strings.Repeat("x", maxAnswer+1):                                    "more than 4096 bytes",
		start + "cmd=maxes vallen_max=many keylen_max=64\n":                 "too few",
		start + "cmd=maxes vallen_max=1024 keylen_max=8\n":                  "too few",
		start + "cmd=maxes vallen_max=1024 keylen_max=64\ncmd=my_kvsname\n": "no name",
		start + "cmd=maxes vallen_max=1024 keylen_max=64\ncmd=my_kvsname kvsname=" + strings.Repeat("n", 950) +
			"\n": "too long",
	} {
		near, far := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, far) }()
		go func() {
			if _, _ = io.WriteString(far, answers); answers == "" {
				_ = far.Close()
			}
		}()
		if _, err := newKVS(within(t, 20*time.Second), near, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", answers, err, want)
		}
	}
}

// TestKVSMute: a launcher that reads and answers nothing, or does not even read, holds nobody for ever.
func TestKVSMute(t *testing.T) {
	for _, reads := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			if reads {
				go func() { _, _ = io.Copy(io.Discard, far) }()
			}
			if _, err := newKVS(context.Background(), near, 0); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("it reads: %v: %v", reads, err)
			}
			_ = far.Close()
		})
	}
}

// TestCut: parts come together again, and none is too long.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		longest := rapid.IntRange(32, 1023).Draw(t, "longest")
		value := rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(t, "value")
		m := newMpiexec(1, longest+1)
		k, err := newKVS(context.Background(), m.connect(), 0)
		if longest < 63 {
			if err == nil {
				t.Fatal("a launcher with short values is taken")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		if err := k.Set(context.Background(), "k", value); err != nil {
			t.Fatal(err)
		}
		if got, err := k.Get(context.Background(), "k"); err != nil || !bytes.Equal(got, value) {
			t.Fatalf("%d of %d bytes, %v", len(got), len(value), err)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("cmd=get_result rc=0 msg=success value=1.YWJj\n"))
	f.Add([]byte("cmd=maxes kvsname_max=256\n\n= \n"))
	f.Add([]byte("value=999999999999.x\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for l := newLines(bytes.NewReader(b)); ; {
			line, err := l.next()
			if err != nil {
				return
			}
			a, err := parseAnswer(line)
			if err != nil {
				continue
			}
			if count, rest, err := splitCount(a["value"]); err == nil && (count > maxParts || len(rest) > maxAnswer) {
				t.Errorf("%d parts of %q", count, line)
			}
		}
	})
}

// FuzzKVS has a launcher that says whatever it likes.
func FuzzKVS(f *testing.F) {
	f.Add([]byte("cmd=response_to_init pmi_version=1 rc=0\ncmd=maxes vallen_max=64 keylen_max=64\ncmd=my_kvsname " +
		"kvsname=k\ncmd=put_result rc=0\ncmd=barrier_out rc=0\ncmd=get_result value=1.YWJj\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := newKVS(t.Context(), said{bytes.NewReader(b)}, 0)
		if err != nil {
			return
		}
		_, _ = k.Secret(t.Context())
		_, _ = k.Get(t.Context(), "k")
		_ = k.Close()
	})
}

// said is a launcher that has said all it says.
type said struct{ io.Reader }

func (said) Write(b []byte) (int, error) { return len(b), nil }
func (said) Close() error                { return nil }
func (said) SetDeadline(time.Time) error { return nil }
