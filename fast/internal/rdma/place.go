package rdma

import (
	"encoding/binary"
	"fmt"
)

// kindPlace is the kind of the answer to a message that asks for its place, besides those of package linkproto.
const (
	kindPlace  uint8 = 64
	placeBytes       = 8 + 8 + 8 + 4*MostRails
)

// place is where message n may be written to, or that it is to come through the slots.
type place struct {
	n       uint64
	granted bool
	at      uint64
	keys    [MostRails]uint32 // by the rails of who is written to
}

// grant has p be k's memory, from an offset on.
func (p *place) grant(k *known, offset int) {
	p.granted = true
	for i, r := range k.regions {
		p.at, p.keys[i] = r.Place() // the address is the same for all
	}
	p.at += uint64(offset)
}

func (p place) append(b []byte) []byte {
	first := uint64(kindPlace)
	if p.granted {
		first |= 1 << 8
	}
	b = binary.LittleEndian.AppendUint64(b, first)
	b = binary.LittleEndian.AppendUint64(b, p.n)
	b = binary.LittleEndian.AppendUint64(b, p.at)
	for _, key := range p.keys {
		b = binary.LittleEndian.AppendUint32(b, key)
	}
	return b
}

// parsePlace reads a place from b, which has placeBytes at least.
func parsePlace(b []byte) (p place, err error) {
	first := binary.LittleEndian.Uint64(b)
	if uint8(first) != kindPlace || first>>9 != 0 {
		return p, fmt.Errorf("a place of kind %#x", first)
	}
	p = place{n: binary.LittleEndian.Uint64(b[8:]), granted: first>>8 == 1, at: binary.LittleEndian.Uint64(b[16:])}
	for i := range p.keys {
		p.keys[i] = binary.LittleEndian.Uint32(b[24+4*i:])
	}
	return p, nil
}
