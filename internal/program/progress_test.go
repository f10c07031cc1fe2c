package program

import (
	"bytes"
	"testing"
)

// TestProgress overwrites a longer line with a shorter one, and clears it.
func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := &Progress{w: &b, terminal: true}
	p.Update("a long line")
	p.Update("too soon")
	p.Stage("short")
	p.Clear()
	p.Clear()
	if got, want := b.String(), "\ra long line\rshort      \r     \r"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestProgressElsewhere writes nothing to a file or pipe, but the stages if it is verbose.
func TestProgressElsewhere(t *testing.T) {
	var b bytes.Buffer
	for _, verbose := range []bool{false, true} {
		p := NewProgress(&b)
		p.Verbose = verbose
		p.Update("update")
		p.Stage("stage %v", verbose)
		p.Clear()
	}
	var none *Progress
	none.Update("update")
	none.Stage("stage")
	none.Clear()
	if b.String() != "stage true\n" {
		t.Errorf("%q", b.String())
	}
}
