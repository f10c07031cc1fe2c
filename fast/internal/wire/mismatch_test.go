package wire

import (
	"strings"
	"testing"
)

// TestMismatchHints: an error says more than the values only where they do not show what is wrong.
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
	}
}
