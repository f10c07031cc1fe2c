package rdma

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/linkbase"
)

// Try checks that d carries data. It registers as much memory as a link to another rank takes, and connects a queue
// pair with itself, which writes a few bytes to another place in that memory. They have to arrive before ctx ends. Try
// frees everything that it made.
func Try(ctx context.Context, d Domain) error {
	memory, err := allocate(linkBytes(defaultSlots, defaultBytes))
	if err == nil {
		err = errors.Join(tryIn(ctx, d, memory), unix.Munmap(memory))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.Name(), err)
	}
	return nil
}

func tryIn(ctx context.Context, d Domain, memory []byte) error {
	region, err := d.Register(memory)
	if err != nil {
		return err
	}
	pair, err := d.Pair(1, 1)
	if err != nil {
		return errors.Join(err, region.Close())
	}
	// The pair is closed first, because it may write until then.
	return errors.Join(writeToSelf(ctx, d, pair, region, memory), pair.Close(), region.Close())
}

// What a queue pair writes to itself, where, and with which immediate.
const (
	selfWords     = "to myself"
	selfOffset    = 4096
	selfImmediate = 0x600dbeef
)

func writeToSelf(ctx context.Context, d Domain, pair Pair, region Region, memory []byte) error {
	if err := pair.Receive(1); err != nil {
		return err
	}
	if err := pair.Connect(pair.Address()); err != nil {
		return err
	}
	at, key := region.Remote()
	n := copy(memory, selfWords)
	if _, err := pair.Write([]Write{{From: region, Memory: memory, Length: n, To: at + selfOffset, Key: key,
		Immediate: selfImmediate, Tell: true, Signal: true}}); err != nil {
		return err
	}
	if err := awaitSelf(ctx, d, n); err != nil {
		return fmt.Errorf("a write to itself: %w", err)
	}
	if !bytes.Equal(memory[selfOffset:][:n], memory[:n]) {
		return errors.New("a write to itself has come with other bytes")
	}
	return nil
}

// awaitSelf waits for both ends of the write of n bytes. It polls once more after it has armed the queue, then sleeps.
func awaitSelf(ctx context.Context, d Domain, n int) error {
	var done [2]Completion
	for left, armed := 2, false; left > 0; {
		got, err := d.Poll(done[:left], false)
		for _, c := range done[:got] {
			err = errors.Join(err, c.check(n))
		}
		left -= got
		switch {
		case err != nil:
			return err
		case got > 0:
			armed = false
			continue
		case ctx.Err() != nil:
			return fmt.Errorf("it does not arrive: %w", context.Cause(ctx))
		case armed:
			err = d.Wait(linkbase.MaxSleep)
		default:
			err = d.Arm()
		}
		if armed = !armed; err != nil {
			return err
		}
	}
	return nil
}

// check returns what is wrong with a completion of a write of n bytes, as far as it shows.
func (c *Completion) check(n int) error {
	if c.Err == nil && c.Received && (c.Immediate != selfImmediate || c.Bytes != uint32(n)) {
		return fmt.Errorf("it has come with %d bytes and immediate %#x, not %d and %#x", c.Bytes, c.Immediate, n,
			selfImmediate)
	}
	return c.Err
}
