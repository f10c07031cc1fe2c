package mesh

import (
	"io"
	"net"
	"testing"
	"time"
)

// TestSlowLink: a process to which a frame is being written for long is up as long as its host takes some of it.
func TestSlowLink(t *testing.T) {
	for _, takes := range []bool{true, false} {
		p, far := full(t)
		p.writing.Store(100 * second)
		v := detector{timeout: 2*second + 1}
		given := false
		for now := 100 * second; now < 110*second; now += second / 8 {
			if takes {
				before := acknowledged(p.tcp)
				if _, err := io.ReadFull(far, make([]byte, 256<<10)); err != nil {
					t.Fatal(err)
				}
				eventually(t, func() bool { return acknowledged(p.tcp) != before })
			}
			p.heard.Store(now)
			v.last.Store(now)
			given = given || len(v.look(now, []*peer{p})) > 0
		}
		if given == takes {
			t.Errorf("something is taken: %v, and the process is given up: %v", takes, given)
		}
	}
}

// full returns a peer to whose host no more can be sent, and the other end of the connection.
func full(t *testing.T) (p *peer, far net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if far, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	_ = far.(*net.TCPConn).SetReadBuffer(64 << 10)
	p = &peer{tcp: near.(*net.TCPConn)}
	go func() { _, _ = near.Write(make([]byte, 64<<20)) }()
	for before, writable := uint64(0), true; writable || acknowledged(p.tcp) != before; {
		_, writable = p.ready()
		before = acknowledged(p.tcp)
		time.Sleep(50 * time.Millisecond)
	}
	return p, far
}
