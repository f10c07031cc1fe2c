package secure

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
)

// certificateCredentials are those of a process that was given a certificate of its own.
type certificateCredentials struct {
	own   *tls.Certificate // a pointer, as in secretCredentials
	roots *x509.CertPool
}

// FromCertificate has processes prove by certificates who they are. A process's certificate is one that roots vouch
// for, now, for use by a client or a server; and among its DNS names is, in full and not as a wildcard,
//
//	rank-<number>.<job>
//
// with the number of the process in decimal and the name of the job, which has to be a domain name then: labels of
// letters, digits and hyphens, with dots between them, in lower or upper case. Rank 3 of job train-7 is
// rank-3.train-7. Whoever serves the store of the job needs the name store.<job>, besides its own.
func FromCertificate(own tls.Certificate, roots *x509.CertPool) Credentials {
	if roots == nil {
		roots = x509.NewCertPool() // nil would be those of the system, which vouch for half the world
	}
	return &certificateCredentials{&own, roots}
}

// Format hides the keys, whatever the verb.
func (c *certificateCredentials) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "credentials from %v", c.mode())
}

func (c *certificateCredentials) mode() mode { return modeCertificate }

// Key is documented at Credentials.
func (c *certificateCredentials) Key(Identity, string) []byte { return nil }

func (c *certificateCredentials) mac(side, []byte, []byte) (none [macBytes]byte) { return none }

// certificate returns the one given, if it is me's: others would only refuse it.
func (c *certificateCredentials) certificate(me Identity) (*tls.Certificate, error) {
	if err := checkDomain(me.Job); err != nil {
		return nil, err
	}
	leaf := c.own.Leaf
	if leaf == nil {
		var err error
		if len(c.own.Certificate) == 0 {
			return nil, fmt.Errorf("%w: there is none", ErrWrongCertificate)
		}
		if leaf, err = x509.ParseCertificate(c.own.Certificate[0]); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrWrongCertificate, err)
		}
	}
	return c.own, checkName(me, leaf)
}

func (c *certificateCredentials) check(id Identity, shown []*x509.Certificate) error {
	if len(shown) == 0 {
		return fmt.Errorf("%w: there is none", ErrWrongCertificate)
	}
	between := x509.NewCertPool()
	for _, x := range shown[1:] {
		between.AddCert(x)
	}
	_, err := shown[0].Verify(x509.VerifyOptions{Roots: c.roots, Intermediates: between,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrWrongCertificate, err)
	}
	return checkName(id, shown[0])
}

// checkName refuses a certificate that does not name id.
func checkName(id Identity, leaf *x509.Certificate) error {
	name := domain(id)
	if slices.ContainsFunc(leaf.DNSNames, func(n string) bool { return strings.EqualFold(n, name) }) {
		return nil
	}
	return fmt.Errorf("%w: the certificate is not for %s", ErrWrongRank, name)
}

// domain returns the name that id's certificate carries.
func domain(id Identity) string {
	if id.Process == StoreProcess {
		return "store." + id.Job
	}
	return fmt.Sprintf("rank-%d.%s", id.Process, id.Job)
}

// checkDomain refuses the name of a job that is not a domain name, so that no two jobs can have the same certificates.
func checkDomain(job string) error {
	for label := range strings.SplitSeq(job, ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, func(r rune) bool { return !inLabel(r) }) {
			return fmt.Errorf("job %q has no certificates: its name is not a domain name", job)
		}
	}
	return nil
}

func inLabel(r rune) bool {
	return r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
