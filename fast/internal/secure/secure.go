// Package secure authenticates the processes of a job to each other. Connections between processes of a job, and to
// its store, begin with the handshake of this package and carry nothing else before it succeeds. Two kinds have no
// handshake: connections on one host that a third process makes for two others after a handshake with each (package
// mesh), and those to the store that hands this user's processes their secret (package store). CheckUser guards both.
//
// A handshake has four parts, which together take at most Budget:
//
//   - in the clear, the client's preamble, the server's challenge and the client's answer, which let the server drop
//     strays before it spends more than a few bytes on them;
//   - the server's reply;
//   - TLS 1.3, with certificates on both sides and without tickets;
//   - inside TLS, the client's hello, which says what the connection is for, and the server's reply.
//
// A refusal in any part carries its reason, and both sides return the same error. The clear part proves nothing about
// who is on the path. It only saves work, and a refusal that arrives before TLS may come from anybody.
//
// A Private connection, which the system protects from other users, needs no TLS if the processes share a secret. Right
// after its first reply, the server proves with the secret that it belongs to the job too, and the hello follows in the
// clear. With TLS, the handshakes would take most of the time to form a large job on one host.
//
// With FromSecret, whoever has the job's secret can be any of its processes. A process still needs the key of the
// number that it claims, or on a private connection has to answer for it: this keeps processes of one job, and jobs and
// epochs that share a secret, from being mistaken for each other. With FromCertificate, a process can only be the one
// that its certificate names.
package secure

import (
	"crypto/sha256"
	"fmt"
	"time"
)

// Budget limits how long a whole handshake may take, on each side. It is meant for silent peers: slow ones have plenty
// of time, and idle ones are dropped earlier when places are short. Tests shorten it.
var Budget = time.Minute

// Version is the version of the handshake and of everything that connections carry after it: control messages, the
// store's protocol and the frames of data. Other formats that processes exchange have versions of their own: the layout
// of shared memory (package shm), the cards of processes and the tickets of newcomers (package mesh), and the cards of
// RDMA ranks (package rdma).
const Version = 10

// StoreProcess is the number of the process that serves the job's store, which need not belong to the job.
const StoreProcess = 1<<31 - 1

// Identity is a process of a job.
type Identity struct {
	Job     string // the job's name
	Epoch   uint32 // counts the starts of a job of that name
	Process int    // its number in the job, from 0, or StoreProcess
	// Size is the number of processes that the job starts with; one that joins later has a number of at least Size. A
	// server with Size 0 accepts clients of any size.
	Size int
}

// String returns the identity for messages.
func (id Identity) String() string {
	return fmt.Sprintf("process %d of %d of job %q, epoch %d", id.Process, id.Size, id.Job, id.Epoch)
}

// check returns an error if a hello cannot encode the identity.
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
