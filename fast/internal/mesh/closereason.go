package mesh

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/collgen/collgen/fast/internal/wire"
)

// closeReason is why a process leaves. The empty one is Close.
type closeReason struct {
	blame blame
	ranks []int // whom it blames
	text  string
}

// blame is what a process that leaves says of others.
type blame uint8

const (
	blameNobody blame = iota
	blameAbsent       // it waited for them in vain
	blameDead         // they are down
)

const (
	maxBlamed   = 256
	maxReason   = 2 << 10
	maxFarewell = 3 + 4*maxBlamed + maxReason
)

// closeReasonOf returns that of a process that fails with err.
func closeReasonOf(err error) closeReason {
	f := closeReason{text: err.Error()}
	var absent *wire.TimeoutError
	var dead *wire.PeerError
	switch {
	case errors.As(err, &absent):
		f.blame, f.ranks = blameAbsent, absent.Waiting
	case errors.As(err, &dead) && errors.Is(dead, wire.ErrDied):
		f.blame, f.ranks = blameDead, []int{dead.Rank}
	}
	return f
}

// encode returns f as bytes, cut where it is too long.
func (f closeReason) encode() []byte {
	if f.text == "" {
		return nil
	}
	n := min(len(f.ranks), maxBlamed)
	b := binary.LittleEndian.AppendUint16([]byte{byte(f.blame)}, uint16(n))
	for _, r := range f.ranks[:n] {
		b = binary.LittleEndian.AppendUint32(b, uint32(r))
	}
	return append(b, f.text[:min(len(f.text), maxReason)]...)
}

// decodeCloseReason returns the opposite of encode.
func decodeCloseReason(b []byte) (closeReason, error) {
	if len(b) == 0 {
		return closeReason{}, nil
	}
	d := decoder{b: b}
	f := closeReason{blame: blame(d.byte())}
	n := int(d.uint16())
	if d.err != nil || f.blame > blameDead || n > maxBlamed || n > len(d.b)/4 || len(d.b)-4*n > maxReason {
		return closeReason{}, fmt.Errorf("a close reason with %d ranks in %d bytes", n, len(b))
	}
	for range n {
		r := d.uint32()
		if r > maxProcess {
			return closeReason{}, fmt.Errorf("a close reason with the impossible process number %d", r)
		}
		f.ranks = append(f.ranks, int(r))
	}
	if f.text = printable(string(d.b)); f.text == "" {
		return closeReason{}, errors.New("a close reason without a reason")
	}
	return f, nil
}

// err returns why the process that said f is down.
func (f closeReason) err() error {
	if f.text == "" {
		return wire.ErrClosed
	}
	return &gaveUp{f}
}

// gaveUp says that a process has left with a reason, which is not Close.
type gaveUp struct{ closeReason }

func (e *gaveUp) Error() string { return "gave up: " + e.text }

// Is makes it a way to die.
func (e *gaveUp) Is(target error) bool { return target == wire.ErrDied }

// printable returns s with a question mark for each byte that is not printable ASCII, which only a broken peer sends.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
