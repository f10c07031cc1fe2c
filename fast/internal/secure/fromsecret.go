package secure

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"
)

// secretCredentials are those of a job that has a secret. A process's ed25519 key follows from the secret, the job, the
// epoch and its number, so each process knows what key each other has to show.
type secretCredentials struct {
	// Behind pointers, so that what prints the struct in whatever way shows addresses.
	secret, preamble *Secret
	shown            *tls.Certificate // the last one made
	of               Identity
	keys             map[string][]byte // those derived so far, by their use
	mutex            sync.Mutex        // of these three
}

// FromSecret has processes prove by the job's secret who they are.
func FromSecret(s Secret) Credentials {
	preamble := Secret(derive(&s, "collgen preamble"))
	return &secretCredentials{secret: &s, preamble: &preamble}
}

// derive returns a key of 32 bytes for one use.
func derive(s *Secret, use string) []byte {
	key, err := hkdf.Key(sha256.New, s[:], nil, use, len(s))
	if err != nil {
		panic("secure: " + err.Error()) // only for keys that are too long
	}
	return key
}

// Format hides the keys, whatever the verb.
func (c *secretCredentials) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "credentials from %v", c.mode())
}

func (c *secretCredentials) mode() mode { return modeSecret }

// Key is documented at Credentials. The job's name is quoted, so that no two jobs run into one.
func (c *secretCredentials) Key(me Identity, use string) []byte {
	use = fmt.Sprintf("collgen key %q|%q|%d", use, me.Job, me.Epoch)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.keys[use] == nil {
		if c.keys == nil {
			c.keys = make(map[string][]byte)
		}
		c.keys[use] = derive(c.secret, use)
	}
	return bytes.Clone(c.keys[use])
}

func (c *secretCredentials) mac(side side, preamble, challenge []byte) [macBytes]byte {
	h := hmac.New(sha256.New, c.preamble[:])
	h.Write([]byte(side))
	h.Write(preamble)
	h.Write(challenge)
	return [macBytes]byte(h.Sum(nil))
}

func (c *secretCredentials) key(id Identity) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(derive(c.secret, fmt.Sprintf("collgen process %d|%q|%d", id.Process, id.Job, id.Epoch)))
}

// certificate makes one with me's key, which signs it itself: nobody reads more of it than the key.
func (c *secretCredentials) certificate(me Identity) (*tls.Certificate, error) {
	if *c.secret == (Secret{}) {
		return nil, errors.New("there is no secret")
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.shown != nil && c.of == me {
		return c.shown, nil
	}
	made, err := selfSigned(c.key(me))
	if err == nil {
		c.shown, c.of = made, me
	}
	return made, err
}

func selfSigned(key ed25519.PrivateKey) (*tls.Certificate, error) {
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

func (c *secretCredentials) check(id Identity, shown []*x509.Certificate) error {
	if len(shown) > 0 && c.key(id).Public().(ed25519.PublicKey).Equal(shown[0].PublicKey) {
		return nil
	}
	return fmt.Errorf("%w: that is not the key of process %d", ErrWrongRank, id.Process)
}
