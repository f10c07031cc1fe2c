package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
	"pgregory.net/rapid"
)

func ordinary() Call {
	return Call{Seq: 7, Primitive: 11, Schedule: 13, Count: 17, Op: uint32(spec.OpSum), Type: uint32(spec.TypeFloat32),
		Root: 1, Depth: 2, Peer: 3,
		PrimitiveName: NewLabel("AllReduce"), AlgorithmName: NewLabel("ring")}
}

// TestEveryFieldCounts changes one number of a call after the other: the fingerprint changes, and Mismatch names a
// field and two different values in words.
func TestEveryFieldCounts(t *testing.T) {
	named := map[string]bool{}
	for i := range reflect.TypeFor[Call]().NumField() {
		mine, theirs := ordinary(), ordinary()
		field := reflect.ValueOf(&theirs).Elem().Field(i)
		if !field.CanUint() { // a name, which is for people
			continue
		}
		field.SetUint(field.Uint() + 1)
		if mine.Fingerprint() == theirs.Fingerprint() {
			t.Errorf("field %d: the same fingerprint", i)
		}
		err := Mismatch(&mine, &theirs, 3)
		if err == nil {
			t.Errorf("field %d: no mismatch", i)
			continue
		}
		named[err.Field] = true
		if err.Rank != 3 || err.Seq != 7 || !strings.Contains(err.Error(), "rank 3") {
			t.Errorf("field %d: %v", i, err)
		}
	}
	mine, theirs := ordinary(), ordinary()
	theirs.Op += 1 << OpBits // where a field has two parts
	if err := Mismatch(&mine, &theirs, 3); err != nil && mine.Fingerprint() != theirs.Fingerprint() {
		named[err.Field] = true
	}
	if len(named) != len(Fields) {
		t.Errorf("%d fields are named, and there are %d: %v", len(named), len(Fields), named)
	}
	mine, theirs = ordinary(), ordinary()
	if err := Mismatch(&mine, &theirs, 3); err != nil {
		t.Errorf("equal calls: %v", err)
	}
}

// TestMeets: calls of one order have to agree if they have the same number.
func TestMeets(t *testing.T) {
	collective, pair := Call{Seq: 7, Root: 1, Count: 3}, Call{Seq: 7, Root: 1, Peer: 3, Count: 3}
	for _, x := range []struct {
		a, b  Call
		meets bool
	}{
		{collective, Call{Seq: 7, Root: 2, Op: 1}, true},
		{collective, Call{Seq: 8, Root: 1, Count: 3}, false},
		{collective, pair, false},
		{pair, Call{Seq: 7, Root: 1, Peer: 3}, true},
		{pair, Call{Seq: 7, Root: 2, Peer: 3, Count: 3}, false},
		{pair, Call{Seq: 7, Root: 1, Peer: 1, Count: 3}, false},
	} {
		if x.a.Meets(&x.b) != x.meets || x.b.Meets(&x.a) != x.meets {
			t.Errorf("%+v and %+v: want %v", x.a, x.b, x.meets)
		}
	}
}

// TestFingerprints: calls that differ have different fingerprints, none of which is 0, and calls that differ in their
// place in the order of calls alone have one form. Names count for neither.
func TestFingerprints(t *testing.T) {
	draw := rapid.Custom(func(t *rapid.T) Call {
		small := rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64())
		return Call{Seq: small.Draw(t, "seq"), Primitive: small.Draw(t, "primitive"), Schedule: small.Draw(t, "schedule"),
			Count: small.Draw(t, "count"), Op: uint32(small.Draw(t, "op")), Type: uint32(small.Draw(t, "type")),
			Before: uint32(small.Draw(t, "before")), Root: uint32(small.Draw(t, "root")), Depth: uint32(small.Draw(t, "depth")),
			Peer: uint32(small.Draw(t, "peer"))}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		if a.Fingerprint() == 0 || (a == b) != (a.Fingerprint() == b.Fingerprint()) {
			t.Fatalf("%x and %x", a.Fingerprint(), b.Fingerprint())
		}
		form := a.Form()
		a.Seq, a.Before = b.Seq, b.Before
		m := MarkOf(&a, form)
		if m != NewMark(&a) || (a == b) != (m.Form == NewMark(&b).Form) {
			t.Fatalf("%+v is %+v in another place, and %+v is %+v", a, m, b, NewMark(&b))
		}
		named := a
		named.PrimitiveName, named.AlgorithmName = NewLabel("Send"), NewLabel("direct")
		if n := NewMark(&named); n.Form != m.Form || n.Fingerprint != m.Fingerprint {
			t.Fatalf("%+v is %+v, and with names %+v", a, m, n)
		}
	})
	if fingerprint(0, 0, 0) == 0 {
		t.Error("a fingerprint is 0")
	}
}

// TestSeries: what a call carries of those before it depends on all bits of their forms, and on their order.
func TestSeries(t *testing.T) {
	one, other := ordinary(), ordinary()
	other.Root++
	a, b := NewMark(&one).Form, NewMark(&other).Form
	if x, y := Series(0).Then(a).Then(b), Series(0).Then(b).Then(a); x.Before() == y.Before() {
		t.Errorf("forms %#x and %#x in either order: %#x", a, b, x.Before())
	}
	for bit := range 64 {
		x, y := Series(0).Then(b).Then(a), Series(0).Then(b).Then(a^1<<bit)
		for after := range 3 {
			if x.Before() == y.Before() {
				t.Errorf("bit %d of the form of a call, and %d calls after it: %#x", bit, after, x.Before())
			}
			x, y = x.Then(b), y.Then(b)
		}
	}
}

func FuzzLabel(f *testing.F) {
	f.Add([]byte("AllReduce"))
	f.Add([]byte{0xff, '\n', 0, 'x'})
	f.Fuzz(func(t *testing.T, b []byte) {
		var l Label
		copy(l[:], b)
		for _, r := range l.String() {
			if r < ' ' || r > '~' {
				t.Fatalf("%q is not printable", l.String())
			}
		}
	})
}

func TestErrorsAreWhatTheyWrap(t *testing.T) {
	for _, x := range []struct{ err, is error }{
		{&PeerError{2, ErrDied}, ErrDied},
		{&TimeoutError{[]int{1, 3}, context.DeadlineExceeded}, context.DeadlineExceeded},
		{fmt.Errorf("AllReduce: %w", &TimeoutError{nil, context.Canceled}), context.Canceled},
	} {
		if !errors.Is(x.err, x.is) {
			t.Errorf("%v is not %v", x.err, x.is)
		}
	}
	if !(&TimeoutError{Err: context.DeadlineExceeded}).Timeout() || (&TimeoutError{Err: context.Canceled}).Timeout() {
		t.Error("Timeout is to tell a deadline from a cancelled context")
	}
}

// TestMark: a message's own call counts, and otherwise the one in progress.
func TestMark(t *testing.T) {
	begun, own := NewMark(&Call{Seq: 1}), &Call{Seq: 2}
	if got := begun.Of(nil); got != begun {
		t.Errorf("without a call of its own: %+v", got)
	}
	if got := begun.Of(own); got != NewMark(own) || got.Fingerprint != own.Fingerprint() ||
		got.Fingerprint == begun.Fingerprint {
		t.Errorf("with a call of its own: %+v", got)
	}
}

// TestText: a text is in the place of both names, however much of it there is and whatever a broken peer sends.
func TestText(t *testing.T) {
	for n := range TextBytes + 1 {
		c := Call{Schedule: 7, PrimitiveName: NewLabel("AllReduce"), AlgorithmName: NewLabel("ring")}
		text := bytes.Repeat([]byte("x"), n)
		c.SetText(text)
		if c.Name() != string(text) || c.algorithm() != "0x7" {
			t.Errorf("%d bytes: %q, algorithm %s", n, c.Name(), c.algorithm())
		}
	}
	c := Call{PrimitiveName: NewLabel("AllReduce"), AlgorithmName: NewLabel("ring")}
	if c.Name() != "AllReduce" || c.algorithm() != "ring" {
		t.Errorf("%q, algorithm %s", c.Name(), c.algorithm())
	}
	c.SetText([]byte("a\x1b[31m\xff"))
	if got := c.Name(); got != "a?[31m?" {
		t.Errorf("%q", got)
	}
}
