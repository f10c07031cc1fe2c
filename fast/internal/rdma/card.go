package rdma

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// card is what a rank tells another one so that they connect: where its queue pair is and which memory may be written to; whether
// it is ready to be written to; or why it cannot be.
type card struct {
	Address
	at      uint64 // the address of the slots, and behind them those for what is said besides
	key     uint32 // of that memory
	slots   uint32
	bytes   uint32 // of a slot
	ready   bool
	refusal string // not empty: there is no connection, because of this
}

// The kinds of cards.
const (
	cardOffer uint8 = iota + 1
	cardReady
	cardRefusal
)

const (
	cardVersion = 1
	cardBytes   = 2 + 16 + 2 + 2 + 4 + 4 + 8 + 4 + 4 + 4
	mostWords   = 200 // bytes of a refusal
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
	b := append([]byte{cardVersion, kind}, c.GID[:]...)
	b = binary.LittleEndian.AppendUint16(b, c.LID)
	b = binary.LittleEndian.AppendUint16(b, c.MTU)
	b = binary.LittleEndian.AppendUint32(b, c.QP)
	b = binary.LittleEndian.AppendUint32(b, c.PSN)
	b = binary.LittleEndian.AppendUint64(b, c.at)
	for _, v := range [...]uint32{c.key, c.slots, c.bytes} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// decode reads a card and checks it: what it says of sizes can be computed with.
func decode(b []byte) (c card, err error) {
	switch {
	case len(b) < 2 || b[0] != cardVersion:
		return c, errors.New("a card of another version")
	case b[1] == cardRefusal && len(b) > 2 && len(b) <= 2+mostWords:
		c.refusal = legible(b[2:])
		return c, nil
	case b[1] != cardOffer && b[1] != cardReady || len(b) != cardBytes:
		return c, fmt.Errorf("a card of kind %d with %d bytes", b[1], len(b))
	}
	c.ready = b[1] == cardReady
	copy(c.GID[:], b[2:])
	c.LID, c.MTU = binary.LittleEndian.Uint16(b[18:]), binary.LittleEndian.Uint16(b[20:])
	c.QP, c.PSN = binary.LittleEndian.Uint32(b[22:]), binary.LittleEndian.Uint32(b[26:])
	c.at = binary.LittleEndian.Uint64(b[30:])
	c.key, c.slots, c.bytes = binary.LittleEndian.Uint32(b[38:]), binary.LittleEndian.Uint32(b[42:]), binary.LittleEndian.Uint32(b[46:])
	return c, c.check()
}

func (c *card) check() error {
	power := func(v uint32) bool { return v != 0 && v&(v-1) == 0 }
	switch {
	case c.QP >= 1<<24 || c.PSN >= 1<<24:
		return fmt.Errorf("a queue pair %#x with packet number %#x", c.QP, c.PSN)
	case c.MTU < 256 || c.MTU > 4096 || !power(uint32(c.MTU)):
		return fmt.Errorf("packets of %d bytes", c.MTU)
	case c.slots < fewestSlots || c.slots > mostSlots || !power(c.slots):
		return fmt.Errorf("%d slots", c.slots)
	case c.bytes < leastBytes || c.bytes > mostBytes || c.bytes%64 != 0:
		return fmt.Errorf("slots of %d bytes", c.bytes)
	case c.at > -uint64(asideAt(c.slots, c.bytes)+asideSlots*asideBytes):
		return fmt.Errorf("slots at %#x, beyond the end of all memory", c.at)
	}
	return nil
}

// legible is what a peer says of itself, without what is not printable.
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
