package rdma_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/rdma/fabric"
)

// odd is a device that does something else than it is asked for.
type odd struct {
	*fabric.Domain
	poll func(done []rdma.Completion) error // changes what was polled
}

func (d odd) Poll(into []rdma.Completion, patient bool) (int, error) {
	n, err := d.Domain.Poll(into, patient)
	return n, errors.Join(err, d.poll(into[:n]))
}

// mute is a device that never completes anything.
type mute struct{ *fabric.Domain }

func (mute) Poll([]rdma.Completion, bool) (int, error) { return 0, nil }

// TestTry has devices tried that work, and such that do not, each for its reason; nothing is left of that.
func TestTry(t *testing.T) {
	over, end := context.WithCancelCause(t.Context())
	end(errors.New("enough"))
	f := fabric.New(fabric.Options{Seed: 1})
	d := f.Domain("sim")
	all := func(change func(c *rdma.Completion)) func([]rdma.Completion) error {
		return func(done []rdma.Completion) error {
			for i := range done {
				change(&done[i])
			}
			return nil
		}
	}
	for _, x := range []struct {
		ctx  context.Context
		d    rdma.Domain
		want string
	}{
		{t.Context(), d, ""},
		{t.Context(), fabric.New(fabric.Options{Registered: 1 << 10}).Domain("poor"), "poor: register"},
		{t.Context(), odd{d, func([]rdma.Completion) error { return errors.New("the port is down") }},
			"a write to itself: the port is down"},
		{t.Context(), odd{d, all(func(c *rdma.Completion) { c.Err = errors.New("status 12") })}, "status 12"},
		{t.Context(), odd{d, all(func(c *rdma.Completion) { c.Immediate++ })}, "immediate 0x600dbef0"},
		{t.Context(), odd{d, all(func(c *rdma.Completion) { c.Bytes-- })}, "with 8 bytes"},
		{over, mute{d}, "does not arrive: enough"},
	} {
		err := rdma.Try(x.ctx, x.d)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("got %v, want %q", err, x.want)
		}
	}
	if d.Left() != 0 {
		t.Errorf("%d pairs and regions are left", d.Left())
	}
}

// TestTryBytes has the bytes not be there when they are said to be.
func TestTryBytes(t *testing.T) {
	d := forgetful{fabric.New(fabric.Options{Seed: 1}).Domain("sim")}
	if err := rdma.Try(t.Context(), d); err == nil || !strings.Contains(err.Error(), "other bytes") {
		t.Errorf("got %v", err)
	}
}

// forgetful writes nothing to where it says it has.
type forgetful struct{ *fabric.Domain }

func (d forgetful) Pair(writes, receives int) (rdma.Pair, error) {
	p, err := d.Domain.Pair(writes, receives)
	return elsewhere{p}, err
}

type elsewhere struct{ rdma.Pair }

func (p elsewhere) Write(writes []rdma.Write) (int, error) {
	for i := range writes {
		writes[i].To++
	}
	return p.Pair.Write(writes)
}
