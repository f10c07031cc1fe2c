package secure

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSecretsAreNotPrinted, in whatever way somebody tries, by mistake.
func TestSecretsAreNotPrinted(t *testing.T) {
	secret := secretOf("ours")
	cred := FromSecret(secret)
	own, err := cred.certificate(process(1)) // which it keeps
	if err != nil {
		t.Fatal(err)
	}
	certified := FromCertificate(*own, nil)
	var out bytes.Buffer
	for _, x := range []any{secret, &secret, []Secret{secret}, map[string]Secret{"secret": secret},
		struct{ S Secret }{secret},
		cred, struct{ C Credentials }{cred}, NewServer(cred, process(1)), certified, []Credentials{certified}} {
		for _, verb := range "vsqxXdbotTUcegG" { // %p, which is wrong for all but pointers, shows all there is
			fmt.Fprintf(&out, "%"+string(verb)+"%+"+string(verb)+"%#"+string(verb)+"\n", x, x, x)
		}
		b, err := json.Marshal(x)
		out.Write(b)
		fmt.Fprint(&out, err)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("secret", "x", x)
		slog.New(slog.NewTextHandler(&out, nil)).Info("secret", "x", x)
	}
	for name, key := range map[string][]byte{"secret": secret[:], "preamble's key": cred.(*secretCredentials).preamble[:],
		"process's key": own.PrivateKey.(ed25519.PrivateKey)} {
		for _, shown := range spellings(key[:4]) {
			if strings.Contains(out.String(), shown) {
				t.Errorf("the %s is printed as %s", name, shown)
			}
		}
	}
	if !strings.Contains(out.String(), hidden) {
		t.Error("nothing was printed")
	}
}

// spellings are ways to print bytes.
func spellings(b []byte) []string {
	decimal := strings.Trim(fmt.Sprint(b), "[]")
	return []string{string(b), fmt.Sprintf("%x", b), fmt.Sprintf("%X", b), decimal, strings.ReplaceAll(decimal, " ", ","),
		strings.Trim(fmt.Sprintf("%q", b), `"`), strings.Trim(fmt.Sprintf("%#v", b), "[]byte{}"),
		strings.Trim(fmt.Sprintf("%b", b), "[]"),
		base64.StdEncoding.EncodeToString(b[:3])}
}

// secretFiles are contents of files, and whether they are secrets.
var secretFiles = []struct {
	text string
	good bool
}{
	{string(bytes.Repeat([]byte{7}, 32)), true},
	{strings.Repeat("07", 32), true},
	{strings.Repeat("07", 32) + "\n", true},
	{strings.Repeat("07", 32) + "\r\n", true},
	{strings.Repeat("\n", 32), true},
	{"", false},
	{"\n", false},
	{string(make([]byte, 32)), false},
	{strings.Repeat("0", 64), false},
	{string(bytes.Repeat([]byte{7}, 31)), false},
	{string(bytes.Repeat([]byte{7}, 33)), false},
	{string(bytes.Repeat([]byte{7}, 32)) + "\n", false},
	{strings.Repeat("07", 31) + "0", false},
	{strings.Repeat("07", 32) + "\n\n", false},
	{strings.Repeat("07", 32) + "0", false},
	{strings.Repeat("07", 33), false},
	{strings.Repeat("0g", 32), false},
	{" " + strings.Repeat("07", 31) + "0", false},
}

func TestSecretFile(t *testing.T) {
	for i, x := range secretFiles {
		path := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(path, []byte(x.text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := ReadSecretFile(path)
		if x.good != (err == nil) || x.good && s[0] != 7 && s[0] != '\n' {
			t.Errorf("file %d, %q: %v", i, x.text, err)
		}
		if err == nil {
			continue
		}
		if text := strings.ReplaceAll(err.Error(), path, ""); strings.Contains(text, "07") || strings.Contains(text, "0g") {
			t.Errorf("file %d: the error shows it: %v", i, err)
		}
	}
}

// TestOpenSecretFile: what others can read is no secret.
func TestOpenSecretFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, bytes.Repeat([]byte{7}, 32), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, good := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o700: true,
		0o640: false, 0o604: false, 0o620: false, 0o601: false, 0o644: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSecretFile(path); good != (err == nil) {
			t.Errorf("mode %#o: %v", mode, err)
		}
	}
	for _, other := range []string{filepath.Dir(path), path + ".not"} {
		if _, err := ReadSecretFile(other); err == nil || !strings.Contains(err.Error(), other) {
			t.Errorf("%s: %v", other, err)
		}
	}
	fifo := path + ".fifo"
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSecretFile(fifo); err == nil { // and it does not wait for somebody to write there
		t.Error("a FIFO")
	}
}

// descriptor returns a copy of f's that is the receiver's to close.
func descriptor(t *testing.T, f *os.File) int {
	t.Helper()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

func TestSecretFD(t *testing.T) {
	for _, x := range secretFiles {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		fd := descriptor(t, r)
		_, _ = w.WriteString(x.text)
		_ = w.Close()
		if _, err := ReadSecretFD(fd); x.good != (err == nil) {
			t.Errorf("%q from a pipe: %v", x.text, err)
		}
		_ = r.Close()
		if err := syscall.Fstat(fd, new(syscall.Stat_t)); err != syscall.EBADF {
			t.Errorf("the descriptor is open: %v", err)
		}
	}
}

// TestSharedSecretFD: several processes inherit one descriptor of a file, with one offset.
func TestSharedSecretFD(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, _ = f.WriteString(strings.Repeat("07", 32) + "\n") // whose offset is now at the end
	for range 3 {
		if _, err := ReadSecretFD(descriptor(t, f)); err != nil {
			t.Error(err)
		}
	}
}

// TestBadSecretFD: descriptors that are something else, or nothing, are left alone.
func TestBadSecretFD(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	fd := descriptor(t, dir)
	for _, bad := range []int{-1, 1 << 20, fd} {
		if _, err := ReadSecretFD(bad); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("descriptor %d", bad)) {
			t.Errorf("%d: %v", bad, err)
		}
	}
	if err := syscall.Close(fd); err != nil {
		t.Errorf("it was closed: %v", err)
	}
}

// TestNoEndOfSecret: a writer that never ends does not hold us up for long.
func TestNoEndOfSecret(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	_, _ = w.WriteString(strings.Repeat("07", 32))
	if _, err := ReadSecretFD(descriptor(t, r)); err == nil {
		t.Error("read although there may be more")
	}
}
