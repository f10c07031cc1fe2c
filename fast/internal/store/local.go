package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Local is a store among processes of one user on one host. Rank 0 has it; the others ask for it, and for the secret of
// the job, over an abstract unix socket, which is no file and ends with its process. The system says whose the process
// at the other end is: other users are refused on either side.
type Local struct {
	Shared
	secret func() []byte // as in Memory
}

// Secret returns the job's secret: random, and new each time that rank 0 opens the store.
func (l *Local) Secret(context.Context) ([]byte, error) { return l.secret(), nil }

const (
	localMagic = "collgen\x01" // ends with the version
	localHello = len(localMagic) + 4 + 4 + 4 + sha256.Size
)

// encode returns what a rank says to rank 0 first.
func (j *Job) encode() []byte {
	b := append(make([]byte, 0, localHello), localMagic...)
	b = binary.LittleEndian.AppendUint32(b, j.Epoch)
	b = binary.LittleEndian.AppendUint32(b, uint32(j.Rank))
	b = binary.LittleEndian.AppendUint32(b, uint32(j.Size))
	name := sha256.Sum256([]byte(j.Name))
	return append(b, name[:]...)
}

// errNotOurs is the error of what was not said by a rank.
var errNotOurs = errors.New("this is not a rank of collgen, or of another version")

// check compares what another rank says with what rank 0 knows.
func (j *Job) check(said []byte) error {
	mine := j.encode()
	if len(said) != localHello || !bytes.HasPrefix(said, []byte(localMagic)) {
		return errNotOurs
	}
	n := said[len(localMagic):]
	epoch, rank, size := binary.LittleEndian.Uint32(n), binary.LittleEndian.Uint32(n[4:]), binary.LittleEndian.Uint32(n[8:])
	switch {
	case !bytes.Equal(said[localHello-sha256.Size:], mine[localHello-sha256.Size:]):
		return errors.New("this is another job")
	case epoch != j.Epoch:
		return fmt.Errorf("this is epoch %d of the job, and not %d", j.Epoch, epoch)
	case size != uint32(j.Size):
		return fmt.Errorf("this job has %d ranks, and not %d", j.Size, size)
	case rank == 0 || rank >= size:
		return fmt.Errorf("there is no rank %d of %d beside rank 0", rank, size)
	}
	return nil
}
