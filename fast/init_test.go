package fast

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// torchrun's variables for rank 0 of 1.
func setEnv(t *testing.T, changes map[string]string) {
	t.Helper()
	env := map[string]string{"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
		"MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
	maps.Copy(env, changes)
	for name, value := range env {
		t.Setenv(name, value)
	}
}

// TestInitAlone needs nobody, and so no memory to share: it works everywhere.
func TestInitAlone(t *testing.T) {
	setEnv(t, nil)
	for _, opts := range [][]InitOption{FromEnv(), {WithRank(0, 1)}} {
		c, err := Init(t.Context(), opts...)
		if err != nil {
			t.Fatal(err)
		}
		buf := []float32{1, 2}
		if err := AllReduce(t.Context(), c, buf, Sum); err != nil || buf[1] != 2 || c.Size() != 1 {
			t.Error(buf, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestInitRefuses(t *testing.T) {
	var none context.Context
	if _, err := Init(none, WithRank(0, 1)); !errors.Is(err, ErrInvalidArgument) {
		t.Errorf("no context: %v", err)
	}
	for want, opts := range map[string][]InitOption{
		"the rank is not given":    nil,
		"an option is nil":         {WithRank(0, 1), nil},
		"there is no rank 2 of 2":  {WithRank(2, 2)},
		"there is no rank -1 of 2": {WithRank(-1, 2)},
		"there is no rank 0 of -3": {WithRank(0, -3)},
		"heartbeat timeout of 1ms": {WithRank(0, 1), WithHeartbeatTimeout(time.Millisecond)},
		`a store at "nowhere"`:     {WithRank(0, 1), WithStoreAddress("nowhere")},
		`interface "nosuch0"`:      {WithRank(0, 1), WithInterface("nosuch0")},
		"which is no directory":    {WithRank(0, 1), WithTraceDir(os.DevNull)},
	} {
		if _, err := Init(t.Context(), opts...); !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestFromEnvNamesTheVariable that is missing or wrong.
func TestFromEnvNamesTheVariable(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"RANK", "", "WORLD_SIZE is set, but not RANK"},
		{"RANK", "one", `RANK is "one", want a number from 0`},
		{"RANK", "1", "RANK is 1, and WORLD_SIZE is 1"},
		{"WORLD_SIZE", "0", `WORLD_SIZE is "0", want a number from 1`},
		{"LOCAL_RANK", "x", `LOCAL_RANK is "x"`},
		{"COLL_HEARTBEAT_TIMEOUT", "soon", `COLL_HEARTBEAT_TIMEOUT is "soon"`},
		{"COLL_SLOW_CALL", "-1s", `COLL_SLOW_CALL is "-1s"`},
		{"COLL_SLOW_CALL", "1ns", "slow after 1ns, want at least 1ms"},
		{"COLL_TRANSPORT", "pigeon", `there is no transport "pigeon"`},
	} {
		setEnv(t, map[string]string{c.name: c.value})
		_, err := Init(t.Context(), FromEnv()...)
		if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%q: %v, want %s", c.name, c.value, err, c.want)
		}
		t.Setenv(c.name, "")
	}
}

// TestFromEnvSettles: what the environment says arrives in the options, and those after it count more.
func TestFromEnvSettles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, bytes.Repeat([]byte{7}, 32), 0o600); err != nil {
		t.Fatal(err)
	}
	setEnv(t, map[string]string{"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"})
	for name, value := range map[string]string{
		"COLL_STORE": "tcp://a:1", "COLL_JOB": "j", "COLL_EPOCH": "4", "COLL_SECRET_FILE": file, "COLL_TRANSPORT": "tcp",
		"COLL_INTERFACE": "lo", "COLL_RDMA": "rxe7:1", "COLL_HOST": "h", "COLL_ENCRYPT": "1", "COLL_HEARTBEAT_TIMEOUT": "5s",
		"COLL_TRACE": "/t", "COLL_TUNE": tuneFile, "COLL_NO_CMA": "1", "COLL_SLOW_CALL": "3s",
	} {
		t.Setenv(name, value)
	}
	p, err := newInitConfig(t.Context(), FromEnv())
	if err != nil {
		t.Fatal(err)
	}
	if p.Rank != 0 || p.Size != 2 || p.StoreAddress != "tcp://a:1" || p.Job != "j" || p.Epoch != 4 ||
		p.Transport != "tcp" ||
		p.Network != "lo" || p.RDMADevice != "rxe7:1" || p.Host != "h" || !p.Encrypt || p.HeartbeatTimeout != 5*time.Second ||
		p.TraceDir != "/t" || p.tuned.name != tuneFile || !p.NoCMA || p.slow != 3*time.Second {
		t.Errorf("%+v", p)
	}
	if secret, err := p.SecretFrom(); secret[0] != 7 || err != nil {
		t.Error(secret, err)
	}
	more := []InitOption{WithRank(1, 3), WithStoreAddress("local"), WithSecret(make([]byte, 5)), WithEpoch(9)}
	p, err = newInitConfig(t.Context(), append(FromEnv(), more...))
	if err != nil || p.Rank != 1 || p.Size != 3 || p.StoreAddress != "local" || p.Epoch != 9 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := p.SecretFrom(); !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(),
		"5 bytes, want 32") {
		t.Error(err)
	}
}

// TestEventDir: programs that are not built for events refuse to be without them.
func TestEventDir(t *testing.T) {
	setEnv(t, map[string]string{"COLL_EVENTS": "/e"})
	p, err := newInitConfig(t.Context(), append(FromEnv(), WithRank(0, 1)))
	if events.On {
		if err != nil || p.eventDir != "/e" {
			t.Errorf("%+v, %v", p, err)
		}
		return
	}
	if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), "built without -tags collgen_events") {
		t.Error(err)
	}
}

// TestFromEnvWithoutLauncher: what COLL_* says counts without a launcher, and only Init needs a rank.
func TestFromEnvWithoutLauncher(t *testing.T) {
	setEnv(t, map[string]string{"RANK": "", "WORLD_SIZE": "", "COLL_INTERFACE": "lo", "COLL_ENCRYPT": "1",
		"COLL_TRACE": "/t",
		"COLL_JOB":   "j", "COLL_EPOCH": "4", "COLL_STORE": "tcp://a:1", "COLL_SECRET_FILE": "/s"})
	if _, err := Init(t.Context(), FromEnv()...); !errors.Is(err, ErrInvalidArgument) ||
		!strings.Contains(err.Error(), "no launcher has set the rank") {
		t.Error(err)
	}
	p, err := newInitConfig(t.Context(), append(FromEnv(), WithRank(3, 4)))
	if err != nil {
		t.Fatal(err)
	}
	if p.Rank != 3 || p.Network != "lo" || !p.Encrypt || p.TraceDir != "/t" || p.Job != "j" || p.Epoch != 4 ||
		p.StoreAddress != "tcp://a:1" || p.SecretFrom == nil {
		t.Errorf("%+v", p)
	}
	t.Setenv("COLL_ENCRYPT", "perhaps")
	if _, err := newInitConfig(t.Context(), append(FromEnv(), WithRank(3, 4))); !errors.Is(err, ErrInvalidArgument) ||
		!strings.Contains(err.Error(), "COLL_ENCRYPT") {
		t.Error(err)
	}
}

// TestSecretFromDescriptor reads it once, from a pipe.
func TestSecretFromDescriptor(t *testing.T) {
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	_, _ = syscall.Write(fds[1], bytes.Repeat([]byte{7}, 32))
	_ = syscall.Close(fds[1])
	p, err := newInitConfig(t.Context(), Launch{Size: 2, SecretFD: fds[0]}.options())
	if err != nil {
		t.Fatal(err)
	}
	if secret, err := p.SecretFrom(); secret[0] != 7 || err != nil {
		t.Error(secret, err)
	}
}

// TestStoreless: who has to say where the ranks meet, and how, is told.
func TestStoreless(t *testing.T) {
	for want, env := range map[string]map[string]string{
		"Open MPI does not say where rank 0 is: set COLL_STORE": {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"},
		"no secret is given": {"COLL_RANK": "0", "COLL_SIZE": "2", "COLL_STORE": "tcp://127.0.0.1:1"},
		`a store at "http://x", want local, tcp://host:port`: {"COLL_RANK": "0", "COLL_SIZE": "2", "COLL_STORE": "http://x"},
	} {
		setEnv(t, map[string]string{"RANK": ""})
		for name, value := range env {
			t.Setenv(name, value)
		}
		if _, err := Init(t.Context(), FromEnv()...); !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(),
			want) {
			t.Errorf("%v, want %s", err, want)
		}
		for name := range env {
			t.Setenv(name, "")
		}
	}
	if _, err := Init(t.Context(), WithRank(0, 2),
		WithStoreAddress("file://"+filepath.Join(t.TempDir(), "job"))); err == nil ||
		!strings.Contains(err.Error(), "no secret is given") {
		t.Error(err)
	}
}

// TestDetectIsForPrograms too: its fields have names in JSON, and no secret.
func TestDetectIsForPrograms(t *testing.T) {
	setEnv(t, nil)
	l, err := Detect()
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(l)
	if err != nil || !bytes.Contains(b, []byte(`"launcher":"torchrun","rank":0,"size":1,"localRank":0,"localSize":1`)) {
		t.Errorf("%s, %v", b, err)
	}
}

// TestSecretsAreNotPrinted: what is made with a secret or a key does not show it, in whatever way somebody prints it by
// mistake.
func TestSecretsAreNotPrinted(t *testing.T) {
	secret := slices.Repeat([]byte{201, 202, 203, 204}, 8)
	aead, err := sealing(secret)
	if err != nil {
		t.Fatal(err)
	}
	meeting := NewMemoryStore()
	theirs, err := meeting.(interface {
		Secret(context.Context) ([]byte, error)
	}).Secret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var said, certified initConfig
	WithSecret(secret)(&said)
	WithCertificate(tls.Certificate{PrivateKey: ed25519.NewKeyFromSeed(secret)}, nil)(&certified)
	config := mesh.Config{Credentials: secure.FromSecret(secure.Secret(secret))}
	conn := wire.Conn{Seal: aead, Open: aead}
	for _, x := range []any{WithSecret(secret), said, &said, Launch{SecretFile: "file"}, meeting,
		struct{ s Store }{meeting}, certified, &certified, config, &config, conn, &conn, struct{ C wire.Conn }{conn}} {
		if found := told(x, secret) + told(x, theirs); found != "" {
			t.Errorf("%T shows a secret as %s", x, found)
		}
	}
	for _, x := range []any{secret, struct{ s []byte }{secret}, aead} {
		if told(x, secret) == "" {
			t.Errorf("in %T, a secret is not seen by this test", x)
		}
	}
}

// sealing returns an AEAD as those of connections are.
func sealing(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// told returns how the secret can be read in what is printed of x; "": it cannot.
func told(x any, secret []byte) string {
	shown, _ := json.Marshal(x)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X"} {
		shown = fmt.Appendf(shown, verb, x)
	}
	words := []uint32{binary.BigEndian.Uint32(secret), binary.LittleEndian.Uint32(secret)} // as AES keeps it
	for _, part := range []string{"%d", "%#v", "%x", "%X", "%q"} {
		bytes := strings.Trim(fmt.Sprintf(part, secret[:4]), `[]byte{}"`)
		if strings.Contains(string(shown), bytes) {
			return bytes
		}
	}
	for _, word := range words {
		if word := fmt.Sprint(word); strings.Contains(string(shown), word) {
			return word
		}
	}
	return ""
}

// TestNoComm makes calls without a communicator: they are refused, and nothing is divided by its size.
func TestNoComm(t *testing.T) {
	for name, c := range map[string]*Comm{"nil": nil, "one that nobody made": new(Comm)} {
		buf := make([]int32, 3)
		for call, err := range map[string]error{
			"AllToAll":   AllToAll(context.Background(), c, buf),
			"AllGather":  AllGather(context.Background(), c, buf),
			"Gather":     Gather(context.Background(), c, buf, 1),
			"Scatter":    Scatter(context.Background(), c, buf, -1),
			"Broadcast":  Broadcast(context.Background(), c, buf, 0),
			"ReduceInto": ReduceInto(context.Background(), c, nil, buf, Sum, 0),
		} {
			if !errors.Is(err, ErrInvalidArgument) {
				t.Errorf("%s on %s: %v", call, name, err)
			}
		}
	}
}
