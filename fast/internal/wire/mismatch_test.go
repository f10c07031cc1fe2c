package wire

import (
	"strings"
	"testing"
)

// TestMismatchHints: an error says more than the values only where they do not show what is wrong, also if
// the call has a label.
func TestMismatchHints(t *testing.T) {
	const empty, tables = "they disagree about which blocks are empty", "selection tables (COLL_TUNE) differ"
	for _, x := range []struct {
		err  MismatchError
		hint string
	}{
		{MismatchError{Seq: 2, TheirSeq: 2, Field: "primitive", Mine: "Barrier", Theirs: "AllReduce"}, ""},
		{MismatchError{Seq: 2, TheirSeq: 1, Field: "primitive", Mine: "Barrier", Theirs: "AllReduce"}, empty},
		{MismatchError{Seq: 2, TheirSeq: 1, Field: "seq", Mine: "2", Theirs: "1"}, empty},
		{MismatchError{Seq: 1, TheirSeq: 1, Field: "primitive", Mine: "Recv", Theirs: "AllToAllV"}, empty},
		{MismatchError{Seq: 1, TheirSeq: 1, Field: "primitive", Mine: "AllToAllV", Theirs: "Recv"}, empty},
		{MismatchError{Seq: 1, TheirSeq: 1, Field: "primitive", Mine: "AllToAllV", Theirs: "AllToAll"}, ""},
		{MismatchError{Seq: 1, TheirSeq: 1, Field: "lengths", Mine: "AllGatherV 2: 1 2", Theirs: "AllGatherV 2: 2 1"}, ""},
		{MismatchError{Seq: 1, TheirSeq: 1, Field: "lengths", Mine: "Bucket 9: 1", Theirs: "Bucket 9: 1"},
			"not shown differs"},
		{MismatchError{Seq: 1, TheirSeq: 1, Field: "algorithm", Mine: "ring", Theirs: "tree"}, tables},
		{MismatchError{Seq: 1, TheirSeq: 1, Field: Earlier, Mine: "0x1", Theirs: "0x2"}, "one of the calls before"},
	} {
		switch text := x.err.Error(); {
		case x.hint == "" && !strings.HasSuffix(text, "there"), !strings.Contains(text, x.hint):
			t.Errorf("%s, want %q", text, x.hint)
		}
		x.err.Call = `Scan "x"`
		if text := x.err.Error(); !strings.Contains(text, ` there, in Scan "x"`) || !strings.Contains(text, x.hint) {
			t.Errorf("of a call with a label: %s, want %q", text, x.hint)
		}
	}
}

// TestMismatchNamesCall: what differs between two calls of one label comes with the label.
func TestMismatchNamesCall(t *testing.T) {
	mine := Call{Seq: 3, Primitive: 1, Root: 0}
	mine.SetText([]byte(`Broadcast "weights"`))
	theirs := mine
	theirs.Root = 1
	const want = `call 3 does not match rank 5's: root is 0 here and 1 there, in Broadcast "weights"`
	err := Mismatch(&mine, &theirs, 5)
	if err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if got := err.Mirror(2); got.Call != err.Call || got.Rank != 2 {
		t.Errorf("the other rank sees %v", got)
	}
	if got := LengthMismatch(&mine, 5, 8, 16).Error(); !strings.Contains(got, `"weights"`) {
		t.Error(got)
	}
	theirs.SetText([]byte(`Broadcast "biases"`))
	theirs.Primitive = 2
	if err := Mismatch(&mine, &theirs, 5); err.Call != "" || err.Field != "primitive" {
		t.Errorf("%+v", err)
	}
	plain := Call{Primitive: 1, PrimitiveName: NewLabel("Broadcast")}
	other := plain
	other.Root = 1
	if err := Mismatch(&plain, &other, 5); err.Call != "" {
		t.Errorf("without a label: %+v", err)
	}
}
