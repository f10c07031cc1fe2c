package secure

import (
	"encoding/binary"
	"fmt"
)

// Hello is what a client says of a connection.
type Hello struct {
	From, To int // processes; From is set by Client
	Purpose  Purpose
	Encrypt  bool     // of a connection for data: it stays encrypted; see Conn.Raw
	Comm     uint64   // the communicator that it is for, if any
	Token    [16]byte // what the purpose needs to recognise it by
}

// Purpose is what a connection is for.
type Purpose uint8

// The purposes of connections.
const (
	Control Purpose = 1 + iota // messages between two processes
	Data                       // a communicator's
	Store                      // how processes find each other
	Join                       // a process that comes later
)

// String returns the purpose's name.
func (p Purpose) String() string {
	names := [...]string{Control: "control", Data: "data", Store: "store", Join: "join"}
	if p >= Control && int(p) < len(names) {
		return names[p]
	}
	return fmt.Sprintf("purpose %d", uint8(p))
}

// A hello has this many bytes, and comes in one record:
//
//	0 version   3 1 if encrypted   20 epoch   28 from   36 communicator
//	2 purpose   4 hash of the job  24 size    32 to     44 token
const helloBytes = 60

func encodeHello(h Hello, me Identity) []byte {
	b := make([]byte, 0, helloBytes)
	b = binary.BigEndian.AppendUint16(b, Version)
	b = append(b, byte(h.Purpose), 0)
	if h.Encrypt {
		b[3] = 1
	}
	job := hashJob(me.Job)
	b = append(b, job[:]...)
	for _, v := range [...]uint32{me.Epoch, uint32(me.Size), uint32(h.From), uint32(h.To)} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	b = binary.BigEndian.AppendUint64(b, h.Comm)
	return append(b, h.Token[:]...)
}

// decodeHello returns the client's hello, and what it says of itself, unless that is nothing that me can have to do
// with.
func decodeHello(b []byte, me Identity) (Hello, Identity, error) {
	if len(b) != helloBytes {
		return Hello{}, Identity{}, fmt.Errorf("%w: a hello of %d bytes, and not %d", ErrRefused, len(b), helloBytes)
	}
	number := func(at int) int { return int(binary.BigEndian.Uint32(b[at:]) & StoreProcess) }
	h := Hello{From: number(28), To: number(32), Purpose: Purpose(b[2]), Encrypt: b[3] == 1,
		Comm: binary.BigEndian.Uint64(b[36:]), Token: [16]byte(b[44:])}
	from := Identity{Job: me.Job, Epoch: binary.BigEndian.Uint32(b[20:]), Process: h.From, Size: number(24)}
	switch version := binary.BigEndian.Uint16(b); {
	case version != Version:
		return h, from, not(ErrWrongVersion, int(version), Version)
	case jobHash(b[4:]) != hashJob(me.Job):
		return h, from, ErrWrongJob
	case from.Epoch != me.Epoch:
		return h, from, notEpoch(from.Epoch, me.Epoch)
	case me.Size != 0 && from.Size != me.Size:
		return h, from, not(ErrWrongSize, from.Size, me.Size)
	case h.To != me.Process:
		return h, from, fmt.Errorf("%w: this is process %d, and not %d", ErrWrongRank, me.Process, h.To)
	case h.From == h.To || b[28]|b[32]|b[24] > 127:
		return h, from, fmt.Errorf("%w: process %d cannot call process %d", ErrWrongRank, h.From, h.To)
	case h.Purpose < Control || h.Purpose > Join || b[3] > 1:
		return h, from, fmt.Errorf("%w: %v is unknown", ErrRefused, h.Purpose)
	}
	return h, from, nil
}
