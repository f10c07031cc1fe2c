package secure

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"
)

// authority signs certificates for a test.
type authority struct {
	cert  *x509.Certificate
	key   ed25519.PrivateKey
	roots *x509.CertPool
}

func newAuthority(t testing.TB, name string) *authority {
	t.Helper()
	a := &authority{roots: x509.NewCertPool()}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	template.Subject.CommonName = name
	a.cert, a.key = sign(t, template, template, nil)
	a.roots.AddCert(a.cert)
	return a
}

func sign(t testing.TB, template, parent *x509.Certificate, by ed25519.PrivateKey) (*x509.Certificate,
	ed25519.PrivateKey) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if by == nil {
		by = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// ordinary returns a certificate as it should be, before it is signed.
func ordinary(names ...string) *x509.Certificate {
	return &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: names, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}
}

func (a *authority) certificate(t testing.TB, template *x509.Certificate) tls.Certificate {
	t.Helper()
	cert, key := sign(t, template, a.cert, a.key)
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}

func (a *authority) credentials(t testing.TB, names ...string) Credentials {
	t.Helper()
	return FromCertificate(a.certificate(t, ordinary(names...)), a.roots)
}

// unchecked are credentials that show what they have, whatever it is good for.
type unchecked struct{ *certificateCredentials }

func (c unchecked) certificate(Identity) (*tls.Certificate, error) { return c.cert, nil }

func TestCertificates(t *testing.T) {
	ours, others := newAuthority(t, "ours"), newAuthority(t, "others")
	s := serve(t, ours.credentials(t, "rank-1.train-7", "store.train-7"), process(1), nil, nil)
	expired, wrongUse := ordinary("rank-3.train-7"), ordinary("rank-3.train-7")
	expired.NotAfter = time.Now().Add(-time.Minute)
	wrongUse.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}
	for name, x := range map[string]struct {
		own   tls.Certificate
		roots *x509.CertPool
		want  error
	}{
		"good":               {ours.certificate(t, ordinary("rank-3.train-7")), ours.roots, nil},
		"upper case":         {ours.certificate(t, ordinary("other.example", "RANK-3.Train-7")), ours.roots, nil},
		"another rank":       {ours.certificate(t, ordinary("rank-2.train-7")), ours.roots, ErrWrongRank},
		"another job":        {ours.certificate(t, ordinary("rank-3.train-8")), ours.roots, ErrWrongRank},
		"wildcard":           {ours.certificate(t, ordinary("*.train-7")), ours.roots, ErrWrongRank},
		"no name":            {ours.certificate(t, ordinary()), ours.roots, ErrWrongRank},
		"expired":            {ours.certificate(t, expired), ours.roots, ErrWrongCertificate},
		"for something else": {ours.certificate(t, wrongUse), ours.roots, ErrWrongCertificate},
		"another authority":  {others.certificate(t, ordinary("rank-3.train-7")), ours.roots, ErrWrongCertificate},
		"trusts others":      {ours.certificate(t, ordinary("rank-3.train-7")), others.roots, ErrWrongCertificate},
		"trusts nobody":      {ours.certificate(t, ordinary("rank-3.train-7")), nil, ErrWrongCertificate},
	} {
		t.Run(name, func(t *testing.T) {
			cred := unchecked{FromCertificate(x.own, x.roots).(*certificateCredentials)}
			c, err := s.call(t, cred, process(3), Hello{To: 1, Purpose: Control})
			if !errors.Is(err, x.want) {
				t.Fatalf("got %v, want %v", err, x.want)
			}
			if err == nil {
				defer c.Close()
				a := s.arrived(t)
				defer a.conn.Close()
				talk(t, c, a.conn)
			}
		})
	}
	s.quiet(t)
}

// TestOwnCertificate: what others would refuse is not shown to them.
func TestOwnCertificate(t *testing.T) {
	a := newAuthority(t, "ours")
	named := a.credentials(t, "rank-3.train-7", "rank-3.a_b", "rank-3.")
	for _, x := range []struct {
		cred Credentials
		me   Identity
		want string
	}{
		{named, process(3), ""},
		{named, process(2), "not for rank-2.train-7"},
		{named, process(StoreProcess), "not for store.train-7"},
		{named, Identity{Job: "a_b", Process: 3}, "not a domain name"},
		{named, Identity{Process: 3}, "not a domain name"},
		{named, Identity{Job: "train-7.", Process: 3}, "not a domain name"},
		{named, Identity{Job: strings.Repeat("x", 64), Process: 3}, "not a domain name"},
		{FromCertificate(tls.Certificate{}, a.roots), process(3), "there is none"},
		{FromCertificate(tls.Certificate{Certificate: [][]byte{{1}}}, a.roots), process(3), "malformed"},
	} {
		_, err := x.cred.certificate(x.me)
		if good := x.want == ""; good != (err == nil) || !good && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: got %v, want %q", x.me, err, x.want)
		}
	}
}

// TestKeys: with certificates there is no key in common; with a secret there is one for each use, job and epoch.
func TestKeys(t *testing.T) {
	if key := newAuthority(t, "ours").credentials(t).Key(process(1), "cards"); key != nil {
		t.Errorf("a key of %d bytes", len(key))
	}
	seen := map[string]bool{}
	for _, secret := range []string{"a", "b"} {
		for _, use := range []string{"x", "y"} {
			for _, job := range []string{"j", "k"} {
				for epoch := range uint32(2) {
					cred := FromSecret(secretOf(secret))
					key := cred.Key(Identity{Job: job, Epoch: epoch, Process: 1}, use)
					if seen[string(key)] || len(key) != 32 {
						t.Errorf("%s %s %s %d: a key of %d bytes, seen before: %v", secret, use, job, epoch, len(key), seen[string(key)])
					}
					seen[string(key)] = true
					if again := cred.Key(Identity{Job: job, Epoch: epoch, Process: 2}, use); string(again) != string(key) {
						t.Error("two processes have different keys")
					}
				}
			}
		}
	}
}
