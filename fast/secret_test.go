package fast

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

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
