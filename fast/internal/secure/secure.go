// Package secure says who a process is, and proves it to another one: connections between processes of a job, and to
// its store, begin with the handshake of this package, and count only after that. Two kinds have none: those of one
// host that a third process makes for two others, each of which it has a handshake with (package mesh), and those to
// the store that gives the processes of this user their secret (package store). CheckUser guards these.
//
// A handshake has four parts, which together take at most Budget: in the clear, the client's preamble, the server's
// challenge and the client's answer to it, by which the server sends strays away before it spends more than a few bytes
// on them; the server's reply; TLS 1.3 with certificates on both sides and without tickets; in it the client's hello,
// which says what the connection is for, and the server's reply. A refusal, at whichever part, has its reason, which is
// the same error on both sides. What stands in the clear proves nothing of who is on the path: it only saves work, and
// a refusal that comes before TLS may be anybody's.
//
// A Private connection, which the system keeps from other users, goes without TLS where the processes share a secret:
// the server proves by it, right after its first reply, that it belongs to the job too, and the hello follows in the
// clear. For a large job on one host TLS would take most of the time to form it.
//
// With FromSecret, who has the secret of the job can be any of its processes: that a process has to have the key of the
// number that it claims, or on a private connection to answer for its number, keeps the processes of one job, and of
// jobs and epochs that share a secret, from being mistaken for each other. With FromCertificate, a process can only be
// the one that its certificate names.
package secure

import (
	"crypto/sha256"
	"fmt"
	"time"
)

// Budget is how long a handshake may take in all, on each side. It is for what is silent: what is slow has plenty, and
// who waits for nothing makes room when places are short. Tests shorten it.
var Budget = time.Minute

// Version is that of the handshake, and of all that is said on a connection after it.
const Version = 7

// StoreProcess is the number of whoever serves the job's store, be it a process of the job or not.
const StoreProcess = 1<<31 - 1

// Identity is a process of a job.
type Identity struct {
	Job     string // the job's name
	Epoch   uint32 // counts the starts of a job of that name
	Process int    // its number in the job, from 0, or StoreProcess
	// Size is the number of processes that the job has at its start; one that joins later has a number of at least
	// Size. A server with Size 0 takes clients with any.
	Size int
}

// String is for messages.
func (id Identity) String() string {
	return fmt.Sprintf("process %d of %d of job %q, epoch %d", id.Process, id.Size, id.Job, id.Epoch)
}

// check refuses an identity that cannot be written down in a hello.
func (id Identity) check() error {
	if id.Process < 0 || id.Process > StoreProcess || id.Size < 0 || id.Size > StoreProcess {
		return fmt.Errorf("%v: numbers are from 0 to %d", id, StoreProcess)
	}
	return nil
}

// jobHash stands for the name of a job.
type jobHash [16]byte

func hashJob(job string) jobHash {
	sum := sha256.Sum256([]byte("collgen job " + job))
	return jobHash(sum[:16])
}
