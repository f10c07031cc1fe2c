package secure

import (
	"crypto/tls"
	"crypto/x509"
)

// Credentials are what a process proves with that it belongs to a job, and which of its processes it is; and what it
// checks others by. They are made by FromSecret or FromCertificate.
type Credentials interface {
	// Key is a key of 32 bytes, another one for each use, that all processes of me's job and epoch have and nobody else
	// has. It is nil if they have no secret in common, but certificates.
	Key(me Identity, use string) []byte

	mode() mode
	// mac is how a side that belongs to the job answers the server's challenge to a client that has sent this preamble.
	mac(side side, preamble, challenge []byte) [macBytes]byte
	// certificate is what me shows to others.
	certificate(me Identity) (*tls.Certificate, error)
	// check refuses certificates that are not those of a process.
	check(id Identity, shown []*x509.Certificate) error
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

// side is who answers a challenge. Their answers differ, so that neither side's is worth anything to the other.
type side string

const (
	client side = "client"
	server side = "server"
)
