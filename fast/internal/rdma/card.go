package rdma

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// card is what a rank tells another one so that they can connect: where its queue pairs are, which memory may be
// written, and whether it is ready for that; or why it cannot connect.
type card struct {
	ends    [MostRails]end // of its rails, in its order
	rails   int            // how many
	at      uint64         // the address of the slots; those for control frames follow
	slots   uint32
	bytes   uint32 // of a slot
	ready   bool
	refusal string // if not empty: why there is no connection
}

// end is the address of the queue pair on one rail, and the key of the memory for writes over it.
type end struct {
	Address
	Key uint32
}

// The kinds of cards.
const (
	cardOffer uint8 = iota + 1
	cardReady
	cardRefusal
)

const (
	cardVersion = 2
	cardBytes   = 2 + 8 + 4 + 4 // a card without rails
	endBytes    = 16 + 2 + 2 + 4 + 4 + 4
	mostWords   = 200 // the most bytes of a refusal
	mostSlots   = 1 << 10
	leastBytes  = 4 << 10
	mostBytes   = 1 << 20
)

func (c *card) encode() []byte {
	if c.refusal != "" {
		return append([]byte{cardVersion, cardRefusal}, c.refusal[:min(len(c.refusal), mostWords)]...)
	}
	kind := cardOffer
	if c.ready {
		kind = cardReady
	}
	b := binary.LittleEndian.AppendUint64([]byte{cardVersion, kind}, c.at)
	b = binary.LittleEndian.AppendUint32(b, c.slots)
	b = binary.LittleEndian.AppendUint32(b, c.bytes)
	for i := range c.rails {
		b = c.ends[i].append(b)
	}
	return b
}

func (n *end) append(b []byte) []byte {
	b = append(b, n.GID[:]...)
	b = binary.LittleEndian.AppendUint16(b, n.LID)
	b = binary.LittleEndian.AppendUint16(b, n.MTU)
	for _, v := range [...]uint32{n.QP, n.PSN, n.Key} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// decode reads a card, and checks it, so that it is safe to compute with its sizes.
func decode(b []byte) (c card, err error) {
	switch {
	case len(b) < 2 || b[0] != cardVersion:
		return c, errors.New("a card of another version")
	case b[1] == cardRefusal && len(b) > 2 && len(b) <= 2+mostWords:
		c.refusal = legible(b[2:])
		return c, nil
	case b[1] != cardOffer && b[1] != cardReady || len(b) < cardBytes+endBytes || (len(b)-cardBytes)%endBytes != 0:
		return c, fmt.Errorf("a card of kind %d with %d bytes", b[1], len(b))
	}
	c.ready, c.rails = b[1] == cardReady, (len(b)-cardBytes)/endBytes
	if c.rails > MostRails {
		return c, fmt.Errorf("%d rails", c.rails)
	}
	c.at, c.slots, c.bytes = binary.LittleEndian.Uint64(b[2:]), binary.LittleEndian.Uint32(b[10:]),
		binary.LittleEndian.Uint32(b[14:])
	for i := range c.rails {
		if c.ends[i], err = decodeEnd(b[cardBytes+i*endBytes:]); err != nil {
			return c, err
		}
	}
	return c, c.check()
}

// decodeEnd reads an end from b, which has at least endBytes.
func decodeEnd(b []byte) (n end, err error) {
	copy(n.GID[:], b)
	n.LID, n.MTU = binary.LittleEndian.Uint16(b[16:]), binary.LittleEndian.Uint16(b[18:])
	n.QP, n.PSN, n.Key = binary.LittleEndian.Uint32(b[20:]), binary.LittleEndian.Uint32(b[24:]),
		binary.LittleEndian.Uint32(b[28:])
	switch {
	case n.QP >= 1<<24 || n.PSN >= 1<<24:
		return n, fmt.Errorf("a queue pair %#x with packet number %#x", n.QP, n.PSN)
	case n.MTU < 256 || n.MTU > 4096 || !power(uint32(n.MTU)):
		return n, fmt.Errorf("packets of %d bytes", n.MTU)
	}
	return n, nil
}

func (c *card) check() error {
	switch {
	case c.slots < fewestSlots || c.slots > mostSlots || !power(c.slots):
		return fmt.Errorf("%d slots", c.slots)
	case c.bytes < leastBytes || c.bytes > mostBytes || c.bytes%64 != 0:
		return fmt.Errorf("slots of %d bytes", c.bytes)
	case c.at > -uint64(controlOffset(c.slots, c.bytes)+controlSlots*controlBytes):
		return fmt.Errorf("slots at %#x, beyond the end of all memory", c.at)
	}
	return nil
}

// power reports whether v is a power of two.
func power(v uint32) bool { return v != 0 && v&(v-1) == 0 }

// legible returns a peer's text with what is not printable replaced.
func legible(b []byte) string {
	words := make([]byte, len(b))
	for i, c := range b {
		if c < ' ' || c > '~' {
			c = '?'
		}
		words[i] = c
	}
	return string(words)
}
