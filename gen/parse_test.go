package gen_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

func TestParseRegion(t *testing.T) {
	c, n := v("c"), v("n")
	for text, want := range map[string]gen.Region{
		"nothing":               {},
		"out[c]":                gen.Chunk(out, c),
		" sum [ c + 1 ] ":       gen.Chunk("sum", add(c, one)),
		"in[c..+n]":             gen.Span(in, c, n),
		"scratch[c like n + 1]": gen.Slot(scratch, c, add(n, one)),
		"scratch[c like n[c]]":  gen.BlockSlot(scratch, c, c),
		"scratch[c like n[c + 1][if n then c else 1]]": gen.BlockSlot(scratch, c, add(c, one), cond(n, c, one)),
	} {
		got, err := gen.ParseRegion(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
		if again, err := gen.ParseRegion(want.String()); err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("%v is %v, %v", want, again, err)
		}
	}
	for text, want := range map[string]string{
		"":                   "is no region",
		"out":                "is no region",
		"out[c":              "is no region",
		"out[]":              "want an operand",
		"out[c..+]":          "want an operand",
		"out[c like ]":       "want an operand",
		"out[c like n[]]":    "want an operand",
		"out[c like n[c]d]":  "instead of",
		"out[c] + 1":         "is no region",
		"scratch[c like n[c": "is no region",
	} {
		if got, err := gen.ParseRegion(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %v, %v; want %q", text, got, err, want)
		}
	}
}

func FuzzParseRegion(f *testing.F) {
	f.Add("scratch[c like n[c + 1][2]]")
	f.Add("out[c..+n]")
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := gen.ParseRegion(text); err == nil && len(r.String()) < 1<<14 && r.Buf != spec.Buf("") {
			if again, err := gen.ParseRegion(r.String()); err != nil || again.String() != r.String() {
				t.Errorf("%q is %v, and that is %v, %v", text, r, again, err)
			}
		}
	})
}
