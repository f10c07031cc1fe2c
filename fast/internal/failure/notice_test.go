package failure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestNoticeTells what a failure on rank 1 means to rank 2 of 4, and to the rank at fault.
func TestNoticeTells(t *testing.T) {
	died, frozen := &wire.PeerError{Rank: 3, Err: wire.ErrDied}, &wire.PeerError{Rank: 0, Err: wire.ErrFrozen}
	for _, c := range []struct {
		what string
		err  error
		self int
		want error
	}{
		{"another rank's death", died, 2, died},
		{"its freezing", frozen, 2, frozen},
		{"that this rank is dead", died, 3, &wire.PeerError{Rank: 1, Err: wire.ErrAborted}},
		{"that this rank does not answer", frozen, 0, wire.ErrFenced},
		{"a mismatch with this rank", &wire.MismatchError{Rank: 2, Seq: 7, TheirSeq: 8, Field: "count", Mine: "5", Call: "x",
			Theirs: "6"}, 2, &wire.MismatchError{Rank: 1, Seq: 8, TheirSeq: 7, Field: "count", Mine: "6", Theirs: "5",
			Call: "x"}},
		{"a mismatch with another one", &wire.MismatchError{Rank: 2, Seq: 7, Field: "count", Mine: "5", Theirs: "6"}, 3,
			&wire.PeerError{Rank: 1, Err: wire.ErrAborted}},
		{"that another rank has closed", &wire.PeerError{Rank: 3, Err: wire.ErrClosed}, 2,
			&wire.PeerError{Rank: 3, Err: wire.ErrClosed}},
		{"the end of its context", &wire.TimeoutError{Waiting: []int{2}, Err: errors.New("stop")}, 2,
			&wire.PeerError{Rank: 1, Err: wire.ErrAborted}},
	} {
		body, err := json.Marshal(NoticeOf(Failed, 1, 7, c.err))
		if err != nil {
			t.Fatal(err)
		}
		var n Notice
		if err := json.Unmarshal(body, &n); err != nil {
			t.Fatal(err)
		}
		got := n.Meaning(c.self, 4)
		var peer, want *wire.PeerError
		if told := "rank 1 says " + c.err.Error(); errors.Is(c.want, wire.ErrFrozen) && !strings.Contains(got.Error(), told) {
			t.Errorf("%s: %v, want that %s", c.what, got, told)
		}
		if errors.As(got, &peer) && errors.As(c.want, &want) {
			if peer.Rank != want.Rank || !errors.Is(peer.Err, want.Err) {
				t.Errorf("%s: %v, want %v", c.what, got, c.want)
			}
		} else if errors.Is(c.want, wire.ErrFenced) {
			if !errors.Is(got, wire.ErrFenced) {
				t.Errorf("%s: %v", c.what, got)
			}
		} else if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, d)
		}
	}
	for _, err := range []error{
		&wire.MismatchError{Rank: 2, Seq: 7, TheirSeq: 8, Field: "count", Mine: "5", Theirs: "6", Call: "x"},
		&wire.DeadlockError{Ranks: []int{1, 2}, Sends: []bool{true, false}}, &wire.TimeoutError{Waiting: []int{2},
			Err: context.Canceled}} {
		told := NoticeOf(Failed, 1, 7, fmt.Errorf("Barrier: %w", err))
		got := told.Meaning(3, 4)
		if _, own := Within[*wire.MismatchError](got); own {
			t.Errorf("%v is taken for this rank's own", got)
		}
		if again := told.Typed(4); !reflect.DeepEqual(again, err) || !errors.Is(got, wire.ErrAborted) ||
			Culprits(got)[0] != 1 ||
			reflect.TypeOf(innermost(got)) != reflect.TypeOf(innermost(err)) {
			t.Errorf("%v is told as %v", err, got)
		}
	}
	n := NoticeOf(Revoked, 1, 0, wire.ErrRevoked)
	if err := n.Meaning(2, 4); !errors.Is(err, wire.ErrRevoked) {
		t.Error(err)
	}
}

// innermost returns what err wraps, and that in turn, the last one listed of several.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if all, ok := err.(interface{ Unwrap() []error }); ok {
			next = all.Unwrap()[len(all.Unwrap())-1]
		}
		if next == nil {
			return err
		}
		err = next
	}
}

// FuzzNotice takes any bytes from another rank for a notice. What can be made of them is an error that names a rank.
func FuzzNotice(f *testing.F) {
	for _, err := range []error{&wire.PeerError{Rank: 3, Err: wire.ErrDied}, &wire.MismatchError{Rank: 2, Seq: 7,
		Field: "count", Mine: "5", Theirs: "6"}, wire.ErrAborted} {
		body, err := json.Marshal(NoticeOf(Failed, 1, 7, err))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(`{"Rank":-1,"Field":"x"}`))
	f.Add([]byte(`{"Text":"\u001b[2J"}`))
	f.Add([]byte(`{"Rank":2,"Field":"\u001b","Mine":"\u0007","Theirs":"\u009b"}`))
	f.Add([]byte(`{"Rank":2,"Field":"count","Call":"Scan \u001b[2J"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		n, ok := DecodeNotice(body, 4)
		if !ok {
			return
		}
		err := n.Meaning(2, 4)
		if !Printable(err.Error()) {
			t.Errorf("%q is said as it came", body)
		}
		var peer *wire.PeerError
		var mismatch *wire.MismatchError
		switch {
		case errors.Is(err, wire.ErrRevoked), errors.Is(err, wire.ErrFenced):
		case errors.As(err, &peer) && peer.Rank >= 0 && peer.Rank < 4:
		case errors.As(err, &mismatch) && mismatch.Rank == n.By:
		default:
			t.Errorf("%q: %v", body, err)
		}
	})
}
