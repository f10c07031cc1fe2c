//go:build unix && !aix && !solaris

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// TestRelayKeepsEveryByte: less its prefixes, the output is the input and the end of its last line, however the input
// comes in pieces.
func TestRelayKeepsEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-c\n]{0,9}|[\n\x00-\xff]{0,40}){0,9}`).Draw(t, "text")
		var r io.Reader = strings.NewReader(text)
		if rapid.Bool().Draw(t, "byte by byte") {
			r = iotest.OneByteReader(r)
		}
		var got bytes.Buffer
		o, keep := new(output), new(tail)
		o.relay(&got, r, "[7] ", keep)
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		var want string
		for line := range strings.Lines(text) {
			want += "[7] " + line
		}
		if got.String() != want {
			t.Fatalf("got %q, want %q", got.String(), want)
		}
		if kept := strings.Join(keep.lines, ""); !strings.HasSuffix(want, kept) {
			t.Fatalf("kept %q of %q", kept, want)
		}
	})
}

func TestRelayCutsEndlessLines(t *testing.T) {
	var got bytes.Buffer
	o, keep := new(output), new(tail)
	o.relay(&got, strings.NewReader(strings.Repeat("x", maxLine+maxLine/2)), "[0] ", keep)
	lines := strings.SplitAfter(got.String(), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], "[0] x") || strings.Count(got.String(), "x") != maxLine+maxLine/2 {
		t.Errorf("%d lines", len(lines))
	}
	if len(keep.lines) != 2 || len(keep.lines[0]) > tailBytes+5 {
		t.Errorf("kept %d lines", len(keep.lines))
	}
}

func TestRelayRemembersThatItCouldNotWrite(t *testing.T) {
	r, w := io.Pipe()
	full := errors.New("disk full")
	r.CloseWithError(full)
	o := new(output)
	o.relay(w, strings.NewReader("a\nb\n"), "", nil)
	if !errors.Is(o.err, full) {
		t.Errorf("got %v", o.err)
	}
}

// TestTailOfCrash: the last line that says why a program crashed is kept, cut like the others, and comes once.
func TestTailOfCrash(t *testing.T) {
	const prefix = "[3] "
	others := func(n int) (all string) {
		for i := range n {
			all += fmt.Sprintf("%sline %d, no panic: of those\n", prefix, i)
		}
		return all
	}
	crash := prefix + "panic: " + strings.Repeat("x", 2*tailBytes) + "\n"
	cut := crash[:tailBytes] + "…\n"
	const first, fatal = prefix + "panic: before\n", prefix + "fatal error: y\n"
	last := func(lines string) string {
		all := strings.SplitAfter(lines, "\n")
		return strings.Join(all[max(0, len(all)-1-tailLines):], "")
	}
	for _, x := range []struct{ lines, want string }{
		{others(3), others(3)},
		{others(tailLines + 3), last(others(tailLines + 3))},
		{crash + others(tailLines-1), cut + others(tailLines-1)},
		{crash + others(tailLines), cut + others(tailLines)},
		{crash + others(tailLines+1), cut + last(others(tailLines+1))},
		{first + others(30) + fatal + others(30), fatal + last(others(30))},
		{first + others(2) + fatal + others(3), first + others(2) + fatal + others(3)},
	} {
		keep := new(tail)
		for line := range strings.Lines(x.lines) {
			keep.add([]byte(line), len(prefix))
		}
		if got := keep.String(); got != x.want {
			t.Errorf("of %q is kept %q, want %q", x.lines, got, x.want)
		}
	}
}
