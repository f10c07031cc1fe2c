package mesh

import (
	"bytes"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

var (
	fuzzJob  = secure.Identity{Job: "fuzz", Epoch: 3, Process: 1, Size: 4}
	fuzzCard = Card{Process: 2, Token: [16]byte{1, 2}, Host: "host", Socket: "socket", HeartbeatTimeout: time.Second,
		ForceTCP: true, HasRDMA: true, ForceRDMA: true,
		Encrypt:   true,
		Addresses: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:77"), netip.MustParseAddrPort("[2001:db8::1]:9")}}
)

// FuzzCard: a card that is accepted is the one that its text says. The MAC is put right, as nothing else would be
// looked at.
func FuzzCard(f *testing.F) {
	cred := secure.FromSecret(secure.Secret{1})
	add := func(c Card) {
		b := c.encode(cred, fuzzJob)
		f.Add(b[:len(b)-macBytes])
	}
	add(fuzzCard)
	add(Card{HeartbeatTimeout: time.Second, Failure: "no address"})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		signed := append(bytes.Clone(body), cardMAC(cred, fuzzJob, body)...)
		c, err := decodeCard(signed, cred, fuzzJob, -1)
		if err != nil {
			return
		}
		again, err := decodeCard(c.encode(cred, fuzzJob), cred, fuzzJob, c.Process)
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%+v, and again %+v, %v", c, again, err)
		}
		if _, err := decodeCard(append(signed[:len(signed)-1], signed[len(signed)-1]^1), cred, fuzzJob, -1); err == nil {
			t.Error("a card with a wrong MAC is accepted")
		}
	})
}

// FuzzFrame: what is accepted as the beginning of a frame is within the limits, and is what newFrame makes.
func FuzzFrame(f *testing.F) {
	f.Add(newFrame(frameBeat, wire.Topic{}, nil, nil).bytes)
	f.Add(newFrame(frameNote, wire.Topic{Comm: 1 << 63, Kind: 9, Seq: 1 << 31}, []byte("text"), []int{3}).bytes)
	f.Add(newFrame(frameBye, wire.Topic{}, []byte{1, 0, 0}, nil).bytes)
	f.Add(newFrame(frameFenced, wire.Topic{}, nil, nil).bytes)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < headBytes {
			return
		}
		h, err := decodeHead((*[headBytes]byte)(b))
		if err != nil {
			return
		}
		if h.length > wire.MaxNote || h.files > maxFiles {
			t.Errorf("%+v", h)
		}
		again := newFrame(h.kind, h.topic, make([]byte, h.length), make([]int, h.files))
		if !bytes.Equal(again.bytes[:headBytes], b[:headBytes]) {
			t.Errorf("%+v is %x, and was %x", h, again.bytes[:headBytes], b[:headBytes])
		}
	})
}

// FuzzFarewell: a close reason that is accepted is the same when it is sent on.
func FuzzFarewell(f *testing.F) {
	f.Add(closeReason{blame: blameAbsent, ranks: []int{1, 4}, text: "waited"}.encode())
	f.Add(closeReason{text: "why"}.encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := decodeCloseReason(b)
		if err != nil {
			return
		}
		again, err := decodeCloseReason(x.encode())
		if err != nil || !reflect.DeepEqual(again, x) {
			t.Errorf("%+v, and again %+v, %v", x, again, err)
		}
	})
}

// FuzzTicket: a ticket that is accepted is the same when it is written again.
func FuzzTicket(f *testing.F) {
	x := Ticket{Job: "job", Epoch: 2, Size: 3, Issuer: 1, Number: 7, Host: "host", Addresses: fuzzCard.Addresses}
	f.Add(x.String())
	f.Add(ticketPrefix)
	f.Fuzz(func(t *testing.T, s string) {
		x, err := ParseTicket(s)
		if err == nil && x.String() != s {
			t.Errorf("%q is %q", s, x.String())
		}
	})
}
