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
	"slices"
	"strings"
	"sync"
	"time"
)

// Credentials prove that a process belongs to a job and which of its processes it is, and check the same of others.
// FromSecret and FromCertificate make them.
type Credentials interface {
	// Key returns a key of 32 bytes for a use, which all processes of me's job and epoch have and nobody else has. It
	// returns nil if the processes share no secret but have certificates.
	Key(me Identity, use string) []byte

	mode() mode
	// mac returns the answer of a side that belongs to the job to the server's challenge, for a client's preamble.
	mac(side side, preamble, challenge []byte) [macBytes]byte
	// certificate returns the certificate that me shows to others.
	certificate(me Identity) (*tls.Certificate, error)
	// check returns an error unless the certificates are id's.
	check(id Identity, chain []*x509.Certificate) error
}

// mode is the kind of a process's credentials.
type mode uint8

const (
	modeSecret mode = 1 + iota
	modeCertificate
)

// String returns the mode's name.
func (m mode) String() string {
	switch m {
	case modeSecret:
		return "a secret"
	case modeCertificate:
		return "a certificate"
	}
	return "something unknown"
}

// side is the side that answers a challenge. The answers of the two sides differ, so neither can use the other's.
type side string

const (
	client side = "client"
	server side = "server"
)

// secretCredentials are those of a job with a secret. A process's ed25519 key is derived from the secret, the job, the
// epoch and the process's number, so each process knows every other one's key.
type secretCredentials struct {
	// Both are pointers, so that printing the struct shows only addresses.
	secret, preamble *Secret

	mutex   sync.Mutex // guards the rest
	cert    *tls.Certificate
	certFor Identity
	keys    map[string][]byte // those derived so far, by use
}

// FromSecret returns credentials by which processes prove who they are with the job's secret.
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

// Format hides the keys, with any verb.
func (c *secretCredentials) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "credentials from %v", c.mode())
}

func (c *secretCredentials) mode() mode { return modeSecret }

// Key is documented at Credentials. The job's name is quoted, so that different jobs never share a key.
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

// certificate returns a self-signed certificate with me's key, the only part of it that others check.
func (c *secretCredentials) certificate(me Identity) (*tls.Certificate, error) {
	if *c.secret == (Secret{}) {
		return nil, errors.New("there is no secret")
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.cert != nil && c.certFor == me {
		return c.cert, nil
	}
	cert, err := selfSigned(c.key(me))
	if err == nil {
		c.cert, c.certFor = cert, me
	}
	return cert, err
}

func selfSigned(key ed25519.PrivateKey) (*tls.Certificate, error) {
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

func (c *secretCredentials) check(id Identity, chain []*x509.Certificate) error {
	if len(chain) > 0 && c.key(id).Public().(ed25519.PublicKey).Equal(chain[0].PublicKey) {
		return nil
	}
	return fmt.Errorf("%w: that is not the key of process %d", ErrWrongRank, id.Process)
}

// certificateCredentials are those of a process with a certificate.
type certificateCredentials struct {
	cert  *tls.Certificate // a pointer, as in secretCredentials
	roots *x509.CertPool
}

// FromCertificate returns credentials by which processes prove who they are with certificates. The roots have to vouch
// for a process's certificate at present, for use by a client or a server. Its DNS names have to include, in full and
// not as a wildcard,
//
//	rank-<number>.<job>
//
// with the number of the process in decimal and the name of the job. That name has to be a domain name then: labels of
// letters, digits and hyphens, separated by dots, in lower or upper case. Rank 3 of job train-7 is rank-3.train-7. The
// process that serves the job's store also needs the name store.<job>.
func FromCertificate(own tls.Certificate, roots *x509.CertPool) Credentials {
	if roots == nil {
		roots = x509.NewCertPool() // nil would mean the system's roots, which vouch for half the world
	}
	return &certificateCredentials{&own, roots}
}

// Format hides the keys, with any verb.
func (c *certificateCredentials) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "credentials from %v", c.mode())
}

func (c *certificateCredentials) mode() mode { return modeCertificate }

// Key is documented at Credentials.
func (c *certificateCredentials) Key(Identity, string) []byte { return nil }

func (c *certificateCredentials) mac(side, []byte, []byte) (none [macBytes]byte) { return none }

// certificate returns the certificate, unless it is not me's and others would refuse it.
func (c *certificateCredentials) certificate(me Identity) (*tls.Certificate, error) {
	if err := checkDomain(me.Job); err != nil {
		return nil, err
	}
	leaf := c.cert.Leaf
	if leaf == nil {
		var err error
		if len(c.cert.Certificate) == 0 {
			return nil, fmt.Errorf("%w: there is none", ErrWrongCertificate)
		}
		if leaf, err = x509.ParseCertificate(c.cert.Certificate[0]); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrWrongCertificate, err)
		}
	}
	return c.cert, checkName(me, leaf)
}

func (c *certificateCredentials) check(id Identity, chain []*x509.Certificate) error {
	if len(chain) == 0 {
		return fmt.Errorf("%w: there is none", ErrWrongCertificate)
	}
	intermediates := x509.NewCertPool()
	for _, x := range chain[1:] {
		intermediates.AddCert(x)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: c.roots, Intermediates: intermediates,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrWrongCertificate, err)
	}
	return checkName(id, chain[0])
}

// checkName returns an error if a certificate does not name id.
func checkName(id Identity, leaf *x509.Certificate) error {
	name := domainName(id)
	if slices.ContainsFunc(leaf.DNSNames, func(n string) bool { return strings.EqualFold(n, name) }) {
		return nil
	}
	return fmt.Errorf("%w: the certificate is not for %s", ErrWrongRank, name)
}

// domainName returns the name that id's certificate carries.
func domainName(id Identity) string {
	if id.Process == StoreProcess {
		return "store." + id.Job
	}
	return fmt.Sprintf("rank-%d.%s", id.Process, id.Job)
}

// checkDomain returns an error if the name of a job is not a domain name. Domain names keep any two jobs from sharing
// certificates.
func checkDomain(job string) error {
	for label := range strings.SplitSeq(job, ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, func(r rune) bool { return !inLabel(r) }) {
			return fmt.Errorf("job %q cannot have certificates: its name is not a domain name", job)
		}
	}
	return nil
}

// inLabel reports whether a label of a domain name may contain r.
func inLabel(r rune) bool {
	return r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
