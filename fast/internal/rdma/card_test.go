package rdma

import (
	"bytes"
	"strings"
	"testing"
)

func ordinaryCard() card {
	c := card{rails: 2, at: 0x7f00_0000_1000, slots: 16, bytes: 16 << 10, ready: true}
	c.ends[0] = end{Address{GID: [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 7}, LID: 3, MTU: 1024, QP: 17, PSN: 1<<24 - 1},
		99}
	c.ends[1] = end{Address{GID: [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 8}, LID: 4, MTU: 4096, QP: 17, PSN: 5}, 98}
	return c
}

// TestCards: what is written can be read.
func TestCards(t *testing.T) {
	offer := ordinaryCard()
	offer.ready = false
	all := ordinaryCard()
	for all.rails = range MostRails + 1 {
		all.ends[max(all.rails, 1)-1] = all.ends[0]
	}
	for _, c := range []card{ordinaryCard(), offer, all, {refusal: "no memory"}} {
		if got, err := decode(c.encode()); err != nil || got != c {
			t.Errorf("%+v is read as %+v: %v", c, got, err)
		}
	}
	long := card{refusal: strings.Repeat("no\n", 1000)}
	if got, err := decode(long.encode()); err != nil || len(got.refusal) != mostWords ||
		strings.Contains(got.refusal, "\n") {
		t.Errorf("a long refusal: %q, %v", got.refusal, err)
	}
}

// TestBadCards are refused, each for its reason.
func TestBadCards(t *testing.T) {
	for name, change := range map[string]func(*card){
		"queue pair": func(c *card) { c.ends[1].QP = 1 << 24 },
		"packet":     func(c *card) { c.ends[1].PSN = 1 << 24 },
		"MTU":        func(c *card) { c.ends[1].MTU = 1500 },
		"small MTU":  func(c *card) { c.ends[0].MTU = 128 },
		"no rails":   func(c *card) { c.rails = 0 },
		"no slots":   func(c *card) { c.slots = 0 },
		"few slots":  func(c *card) { c.slots = fewestSlots / 2 },
		"odd slots":  func(c *card) { c.slots = 17 },
		"many slots": func(c *card) { c.slots = 2 * mostSlots },
		"short":      func(c *card) { c.bytes = 64 },
		"long":       func(c *card) { c.bytes = 2 * mostBytes },
		"uneven":     func(c *card) { c.bytes = leastBytes + 8 },
		"beyond":     func(c *card) { c.at = 1<<64 - 1000 },
	} {
		c := ordinaryCard()
		change(&c)
		if _, err := decode(c.encode()); err == nil {
			t.Errorf("%s: it is accepted", name)
		}
	}
	c := ordinaryCard()
	whole := c.encode()
	for n := range whole {
		if _, err := decode(whole[:n]); err == nil && n != cardBytes+endBytes {
			t.Errorf("%d of its bytes are accepted", n)
		}
	}
	if _, err := decode(append(whole, make([]byte, MostRails*endBytes)...)); err == nil {
		t.Error("too many rails are accepted")
	}
	other := append([]byte{cardVersion + 1}, whole[1:]...)
	if _, err := decode(other); err == nil {
		t.Error("another version is accepted")
	}
	if _, err := decode(append(whole, 0)); err == nil {
		t.Error("a byte too many is accepted")
	}
}

// FuzzCard: a card that is accepted says the same when it is written again, and its slots lie in memory.
func FuzzCard(f *testing.F) {
	c := ordinaryCard()
	f.Add(c.encode())
	f.Add((&card{refusal: "no"}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decode(b)
		if err != nil {
			return
		}
		if c.refusal == "" && (!bytes.Equal(c.encode(), b) ||
			c.at+controlOffset(c.slots, c.bytes)+controlSlots*controlBytes < c.at) {
			t.Fatalf("%x is %+v", b, c)
		}
	})
}
