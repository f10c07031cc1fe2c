package jobtest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/message"
)

func init() { fasttest.Roles["message"] = runMessages }

// runMessages is a rank of three. Rank 0 says what becomes of its messages from and to the others, rank 1 of which is
// killed meanwhile, in the middle of a long one.
func runMessages(ctx context.Context, _ []string) error {
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	defer c.Close()
	long := make([]byte, 64<<20)
	if c.Rank() == 1 {
		s := message.StartSend(ctx, c, long, 0, 1)
		fmt.Println("up")
		<-s.Done() // not before it is dead
		select {}
	}
	if c.Rank() == 2 {
		fmt.Println("up")
		_, err := message.Recv(ctx, c, make([]int, 1), 0, 9) // which rank 0 never sends
		return verdict(err)
	}
	all := []*message.Handle{
		message.StartRecv(ctx, c, make([]int, 1), 1, 2),
		message.StartRecv(ctx, c, make([]int, 1), message.AnySource, 3),
		message.StartSend(ctx, c, long, 1, 4),
		message.StartSend(ctx, c, long, 2, 5),
	}
	if _, err := message.Probe(ctx, c, 1, 1); err != nil {
		return err
	}
	all = append(all, message.StartRecv(ctx, c, long, 1, 1))
	fmt.Println("up")
	for _, h := range all {
		err = h.Wait(context.WithoutCancel(ctx))
		if h == all[4] && err == nil { // it was faster than the signal
			continue
		}
		fmt.Println(verdict(err))
	}
	fmt.Println("over")
	return verdict(err)
}

// TestKillInMessages: when a rank is killed, all message calls of the others end, and name it.
func TestKillInMessages(t *testing.T) {
	for _, over := range []string{"shm", "tcp"} {
		t.Run(over, func(t *testing.T) {
			j := fasttest.NewJob(t, 3, "message")
			j.With = []string{"COLL_TRANSPORT=" + over}
			ranks := j.Start(0, 3)
			for _, p := range ranks {
				if l := p.Line(t); l != "up" {
					t.Fatal(l)
				}
			}
			kill(t, ranks[1])
			lines := 0
			for l := ranks[0].Line(t); l != "over"; l = ranks[0].Line(t) {
				lines++
				if !strings.HasPrefix(l, "died:1 ") {
					t.Errorf("rank 0 says %s", l)
				}
			}
			if lines < 4 {
				t.Errorf("rank 0 says only %d lines", lines)
			}
			if _, text := ranks[2].Failure(t); !strings.HasPrefix(text, "died:1 ") {
				t.Errorf("rank 2 says %s", text)
			}
			j.End(ranks)
		})
	}
}
