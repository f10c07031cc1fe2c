package mesh

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"
)

// strays are what connects to a port by chance or by malice. A silent one stays until ctx ends.
var strays = map[string]func(ctx context.Context, c net.Conn){
	"closed": func(context.Context, net.Conn) {},
	"http": func(_ context.Context, c net.Conn) {
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		drain(c)
	},
	"tls": func(_ context.Context, c net.Conn) {
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		_ = tls.Client(c, &tls.Config{InsecureSkipVerify: true}).Handshake()
	},
	"random": func(_ context.Context, c net.Conn) {
		b := make([]byte, 200)
		_, _ = rand.Read(b)
		_, _ = c.Write(b)
		drain(c)
	},
	"silent": func(ctx context.Context, _ net.Conn) { <-ctx.Done() },
}

// drain reads until the other side closes.
func drain(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = bytes.NewBuffer(nil).ReadFrom(c)
}

// pester opens count connections to the listeners of cards, a few at a time, and calls half when half of them were opened.
func pester(ctx context.Context, cards []Card, count int, half func()) {
	var work sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer work.Wait()
	defer cancel() // the silent ones
	few := make(chan struct{}, 64)
	for n := 0; n < count && ctx.Err() == nil; {
		for name, stray := range strays {
			if n++; n == count/2 {
				half()
			}
			few <- struct{}{}
			n := n // which the loop goes on to count
			work.Go(func() {
				c, err := dial(ctx, anyRoute(cards, n))
				if name != "silent" {
					defer func() { <-few }()
				} else {
					<-few
				}
				if err != nil {
					return
				}
				defer c.Close()
				if name != "silent" || n%10 == 0 { // there cannot be as many open files as strays
					stray(ctx, c)
				}
			})
		}
	}
}

func anyRoute(cards []Card, n int) route {
	c := cards[n%len(cards)]
	if n/len(cards)%2 == 0 && c.Socket != "" {
		return route{socket: c.Socket}
	}
	return route{address: c.Addresses[0]}
}

// TestStrays has thousands of strangers connect to all listeners of a job that forms when half of them have come. It forms
// all the same; they run on the same processors, so the times are only printed.
func TestStrays(t *testing.T) {
	leavesNothing(t)
	count, size := 10_000, 4
	if testing.Short() {
		count = 1000
	}
	clean := time.Now()
	meshes := newJob(t, size, forceTCP)
	cleanTime := time.Since(clean)
	closeAll(meshes)

	b := newBoard()
	ctx := soon(t)
	half := make(chan struct{})
	var configs []Config
	for p := range size {
		c := b.config(p, size)
		c.ForceTCP = true
		c.Fetch = func(ctx context.Context, round string, process int) ([]byte, error) {
			if round == roundAddress { // all listen
				<-half
			}
			return b.fetch(ctx, round, process)
		}
		configs = append(configs, c)
	}
	var before, after runtime.MemStats
	var start time.Time
	var work sync.WaitGroup
	work.Go(func() {
		cards := make([]Card, size)
		for p := range cards {
			raw, err := b.fetch(ctx, roundAddress, p)
			if err == nil {
				cards[p], err = decodeCard(raw, configs[p].Credentials, configs[p].Identity, p)
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
		runtime.ReadMemStats(&before)
		pester(ctx, cards, count, func() {
			start = time.Now()
			close(half)
		})
	})
	meshes, errs := joinAll(ctx, configs...)
	formed := time.Since(start)
	runtime.GC()
	runtime.ReadMemStats(&after)
	work.Wait()
	closeAll(meshes)
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	t.Logf("%d strays: formed after %v, and %v without them; %d KiB more memory", count, formed, cleanTime,
		(int64(after.HeapInuse)-int64(before.HeapInuse))>>10)
}
