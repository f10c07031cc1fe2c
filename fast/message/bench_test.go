//go:build linux

package message

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

func TestMain(m *testing.M) { fasttest.Main(m) }

func init() { fasttest.Roles["pong"] = pong }

// ways are how a rank sends to another one and receives from it.
var ways = map[string]struct {
	send func(ctx context.Context, c *fast.Comm, buf []byte, to int) error
	recv func(ctx context.Context, c *fast.Comm, buf []byte, from int) error
}{
	"message": {
		func(ctx context.Context, c *fast.Comm, buf []byte, to int) error { return Send(ctx, c, buf, to, 0) },
		func(ctx context.Context, c *fast.Comm, buf []byte, from int) error {
			_, err := Recv(ctx, c, buf, from, 0)
			return err
		},
	},
	"fast": {
		func(ctx context.Context, c *fast.Comm, buf []byte, to int) error {
			return fast.Send(ctx, c, buf, to)
		},
		func(ctx context.Context, c *fast.Comm, buf []byte, from int) error {
			return fast.Recv(ctx, c, buf, from)
		},
	},
}

// pong is rank 1 of a benchmark: it returns each message, until rank 0 has closed.
func pong(ctx context.Context, args []string) error {
	var bytes int
	if _, err := fmt.Sscan(args[1], &bytes); err != nil {
		return err
	}
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	defer c.Close()
	way, buf := ways[args[0]], make([]byte, bytes)
	for err == nil {
		if err = way.recv(ctx, c, buf, 0); err == nil {
			err = way.send(ctx, c, buf, 0)
		}
	}
	if errors.Is(err, fast.ErrClosed) {
		return nil
	}
	return err
}

// BenchmarkPingPong is a message to another process and back, here and with package fast. The time in µs is that of one
// way.
func BenchmarkPingPong(b *testing.B) {
	for _, over := range []string{"shm", "tcp"} {
		for _, bytes := range []int{8, 8 << 10, 1 << 20} {
			for _, how := range []string{"message", "fast"} {
				b.Run(fmt.Sprintf("%s/%s/bytes=%d", over, how, bytes), func(b *testing.B) {
					pingPong(b, over, how, make([]byte, bytes))
				})
			}
		}
	}
}

func pingPong(b *testing.B, over, how string, buf []byte) {
	j := fasttest.NewJob(b, 2, fmt.Sprint("pong ", how, " ", len(buf)))
	j.With = []string{"COLL_TRANSPORT=" + over}
	ranks := j.Start(1, 2)
	for _, variable := range j.Env(0) {
		name, value, _ := strings.Cut(variable, "=")
		b.Setenv(name, value)
	}
	c, err := fast.Init(b.Context(), fast.FromEnv()...)
	if err != nil {
		b.Fatal(err)
	}
	exchange := func() {
		way := ways[how]
		if err := way.send(b.Context(), c, buf, 1); err != nil {
			b.Fatal(err)
		}
		if err := way.recv(b.Context(), c, buf, 1); err != nil {
			b.Fatal(err)
		}
	}
	exchange()
	b.SetBytes(2 * int64(len(buf)))
	b.ResetTimer()
	for range b.N {
		exchange()
	}
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/2000/float64(b.N), "µs/way")
	if err := errors.Join(c.Close(), ranks[0].Wait()); err != nil {
		b.Error(err)
	}
}
