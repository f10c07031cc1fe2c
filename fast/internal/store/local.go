package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Local is a store among processes of one user on one host. Rank 0 keeps it. The others reach it, and get the job's
// secret, over an abstract unix socket, which has no file and disappears with its process. Both sides ask the system
// who owns the process at the other end, and refuse other users.
type Local struct {
	Shared
	secret func() []byte // as in Memory
}

// Secret returns the job's secret. It is random, and new each time that rank 0 opens the store.
func (l *Local) Secret(context.Context) ([]byte, error) { return l.secret(), nil }

const (
	localMagic = "collgen\x01" // ends with the version
	localHello = len(localMagic) + 4 + 4 + 4 + sha256.Size
)

// encode returns the hello with which a rank introduces itself to rank 0.
func (j *Job) encode() []byte {
	b := append(make([]byte, 0, localHello), localMagic...)
	b = binary.LittleEndian.AppendUint32(b, j.Epoch)
	b = binary.LittleEndian.AppendUint32(b, uint32(j.Rank))
	b = binary.LittleEndian.AppendUint32(b, uint32(j.Size))
	name := sha256.Sum256([]byte(j.Name))
	return append(b, name[:]...)
}

// errForeign is for messages that no rank of this version sends.
var errForeign = errors.New("this is not a rank of collgen, or one of another version")

// check returns why rank 0 refuses the rank that sent hello.
func (j *Job) check(hello []byte) error {
	own := j.encode()
	if len(hello) != localHello || !bytes.HasPrefix(hello, []byte(localMagic)) {
		return errForeign
	}
	n := hello[len(localMagic):]
	number := binary.LittleEndian.Uint32
	epoch, rank, size := number(n), number(n[4:]), number(n[8:])
	switch {
	case !bytes.Equal(hello[localHello-sha256.Size:], own[localHello-sha256.Size:]):
		return errors.New("this is another job")
	case epoch != j.Epoch:
		return fmt.Errorf("this is epoch %d of the job, not %d", j.Epoch, epoch)
	case size != uint32(j.Size):
		return fmt.Errorf("this job has %d ranks, not %d", j.Size, size)
	case rank == 0 || rank >= size:
		return fmt.Errorf("rank %d of %d cannot connect to rank 0", rank, size)
	}
	return nil
}
