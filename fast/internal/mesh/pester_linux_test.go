package mesh

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// strays are what connects to a port by chance or by malice.
var strays = []struct {
	name string
	come func(c net.Conn)
}{
	{"closed", func(net.Conn) {}},
	{"http", func(c net.Conn) {
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		drain(c)
	}},
	{"tls", func(c net.Conn) {
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		_ = tls.Client(c, &tls.Config{InsecureSkipVerify: true}).Handshake()
	}},
	{"random", func(c net.Conn) {
		b := make([]byte, 200)
		_, _ = rand.Read(b)
		_, _ = c.Write(b)
		drain(c)
	}},
	{"silent", nil}, // until the others, too, have gone
}

// drain reads until the other side closes.
func drain(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = bytes.NewBuffer(nil).ReadFrom(c)
}

// pest is strays that come, of all kinds.
type pest struct {
	count int
	over  time.Duration // they are spread evenly; 0: as fast as they can be made
}

// pester is a process of the tests: it opens connections to the routes that its input names, one a line up to an empty
// one, and says when the first half of them were opened, and when and how many were in all. Then it waits for its input
// to end. Until then the silent ones are open.
func pester() {
	var p pest
	if _, err := fmt.Sscan(os.Getenv("MESH_TEST_STRAYS"), &p.count, &p.over); err != nil {
		panic(err)
	}
	var routes []route
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() && in.Text() != "" {
		r := route{socket: in.Text()}
		if a, err := netip.ParseAddrPort(in.Text()); err == nil {
			r = route{address: a}
		}
		routes = append(routes, r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		in.Scan()
		cancel()
	}()
	p.come(ctx, routes)
}

// come has the strays come to routes, a few at a time besides the silent ones.
func (p pest) come(ctx context.Context, routes []route) {
	var opened atomic.Int64
	var work sync.WaitGroup
	few, begun := make(chan struct{}, 64), time.Now()
	for n := range p.count {
		if n == p.count/2 {
			fmt.Println("half")
		}
		if early := time.Until(begun.Add(p.over * time.Duration(n) / time.Duration(p.count))); early > 0 {
			time.Sleep(early)
		}
		few <- struct{}{}
		kind := strays[n%len(strays)]
		c, err := dial(ctx, routes[n/len(strays)%len(routes)])
		for err != nil && ctx.Err() == nil { // this process may have been kept from running for so long
			fmt.Fprintln(os.Stderr, err)
			c, err = dial(ctx, routes[n/len(strays)%len(routes)])
		}
		if err != nil {
			break
		}
		opened.Add(1)
		work.Go(func() {
			defer c.Close()
			if kind.name == "silent" {
				<-few
				<-ctx.Done()
				return
			}
			kind.come(c)
			<-few
		})
	}
	fmt.Println("all", opened.Load())
	work.Wait()
}

// bring has strays come to routes, from a process of its own that gets the processors when nobody else wants them: real
// ones come from elsewhere.
func (p pest) bring(t *testing.T, routes []route) *pack {
	t.Helper()
	cmd := exec.Command("nice", "-n", "19", os.Args[0])
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	strays := &pack{launch(t, cmd, fmt.Sprintf("MESH_TEST_STRAYS=%d %d", p.count, p.over)), in}
	for _, r := range routes {
		to := r.socket
		if to == "" {
			to = r.address.String()
		}
		fmt.Fprintln(in, to)
	}
	fmt.Fprintln(in)
	return strays
}

// pack is a process that pesters.
type pack struct {
	other
	stay io.Closer
}

// leave has the silent ones go, too.
func (p *pack) leave(t *testing.T) {
	_ = p.stay.Close()
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}
