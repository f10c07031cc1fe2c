package mesh

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// maxAddresses is how many addresses a card or a ticket has.
const maxAddresses = 16

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func appendText(b []byte, s string, most int) []byte {
	s = s[:min(len(s), most)]
	return append(append(b, byte(len(s))), s...)
}

func appendAddresses(b []byte, addresses []netip.AddrPort) []byte {
	addresses = addresses[:min(len(addresses), maxAddresses)]
	b = append(b, byte(len(addresses)))
	for _, a := range addresses {
		ip := a.Addr().As16()
		b = append(b, ip[:]...)
		b = binary.LittleEndian.AppendUint16(b, a.Port())
	}
	return b
}

// printable returns s with a question mark for each character that is not printable ASCII. Only a broken peer sends
// such characters.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

// decoder decodes fields from the front of b. Err is set once there are too few bytes.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.err, d.b = errors.New("a card or ticket that is cut off"), nil
		return make([]byte, n)
	}
	taken := d.b[:n]
	d.b = d.b[n:]
	return taken
}

func (d *decoder) byte() byte { return d.bytes(1)[0] }

func (d *decoder) uint16() uint16 { return binary.LittleEndian.Uint16(d.bytes(2)) }

func (d *decoder) uint32() uint32 { return binary.LittleEndian.Uint32(d.bytes(4)) }

func (d *decoder) uint64() uint64 { return binary.LittleEndian.Uint64(d.bytes(8)) }

// text returns a text of at most most bytes, which is safe to print.
func (d *decoder) text(most int) string {
	n := int(d.byte())
	if n > most {
		d.err, d.b = fmt.Errorf("a text of %d bytes, want at most %d", n, most), nil
		return ""
	}
	return printable(string(d.bytes(n)))
}

func (d *decoder) addresses() (addresses []netip.AddrPort) {
	n := int(d.byte())
	if n > maxAddresses {
		d.err, d.b = fmt.Errorf("%d addresses, want at most %d", n, maxAddresses), nil
		return nil
	}
	for range n {
		ip := netip.AddrFrom16([16]byte(d.bytes(16))).Unmap()
		addresses = append(addresses, netip.AddrPortFrom(ip, d.uint16()))
	}
	return addresses
}
