package spec_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/google/go-cmp/cmp"
)

// text returns a description as lines: words, and formulas indented.
func text(d spec.Description) string {
	var lines []string
	add := func(title string, conditions ...spec.Condition) {
		lines = append(lines, title)
		for _, c := range conditions {
			lines = append(lines, "  "+c.Words)
			if c.Formula != "" {
				lines = append(lines, "      "+c.Formula)
			}
		}
	}
	add("before", d.Before...)
	add("after", d.After...)
	add("in place", d.InPlace)
	add("refused", d.Refused...)
	return strings.Join(lines, "\n")
}

// odd is a primitive with conditions in unusual places.
var odd = spec.Primitive{
	Name: "Odd",
	Doc:  "Odd takes from two ranks, gives nothing, and orders ranks.",
	In:   spec.Buffer{Blocks: spec.Int(1), On: spec.Lt(spec.Rank, spec.Int(2))},
	Pre:  exchange.Pre,
	Post: []spec.Clause{{Where: spec.Ne(spec.Rank, spec.Int(0)),
		Value: spec.Value{Kind: spec.Entered, Where: spec.Lt(spec.Q, spec.Rank)}}},
}

func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		p    spec.Primitive
		want string
	}{
		{spec.AllToAllV, `before
  On every rank r, block b of in has n[r][b] elements.
      len(in[r][b]) = n[r][b]  for r < size, b < size
  On every rank r, block b of out has n[b][r] elements.
      len(out[r][b]) = n[b][r]  for r < size, b < size
  On every rank r, block b of in holds block b of the input of rank r.
      in[r][b] = x[r][b]  for r < size, b < size
after
  On every rank r, block b of out holds block r of the input of rank b.
      out[r][b] = x[b][r]  for r < size, b < size
  Nothing else is changed.
in place
  in and out do not overlap.
refused`},
		{spec.GatherV, `before
  On every rank r, in has n[r] elements.
      len(in[r]) = n[r]  for r < size
  On rank root, block b of out has n[b] elements; no other rank passes out.
      len(out[root][b]) = n[b]  for b < size
  On every rank r, in holds the input of rank r.
      in[r] = x[r]  for r < size
after
  On rank root, block b of out holds the input of rank b.
      out[root][b] = x[b]  for b < size
  Nothing else is changed.
in place
  On rank root, block root of out may be the same memory as in; in and out do not overlap otherwise.
      &out[root][root] = &in[root]
refused
  root is not a rank of the communicator
      (root < 0) || (size <= root)`},
		{spec.Gather, `before
  On every rank r, in has count elements.
      len(in[r]) = count  for r < size
  On rank root, out has size·count elements; no other rank passes out.
      len(out[root]) = size·count
  On every rank r, in holds the input of rank r.
      in[r] = x[r]  for r < size
after
  On rank root, block b of out holds the input of rank b.
      out[root][b] = x[b]  for b < size
  Nothing else is changed.
in place
  On rank root, block root of out may be the same memory as in; in and out do not overlap otherwise.
      &out[root][root] = &in[root]
refused
  root is not a rank of the communicator
      (root < 0) || (size <= root)`},
		{spec.ReduceScatter, `before
  On every rank r, in has size·count elements.
      len(in[r]) = size·count  for r < size
  On every rank r, out has count elements.
      len(out[r]) = count  for r < size
  On every rank r, block b of in holds block b of the input of rank r.
      in[r][b] = x[r][b]  for r < size, b < size
after
  On every rank r, out holds the reduction of block r of the input of every rank q.
      out[r] = ⊕(q < size) x[q][r]  for r < size
  Nothing else is changed.
in place
  On every rank r, out may be the same memory as block r of in; in and out do not overlap otherwise.
      &out[r] = &in[r][r]  for r < size
refused`},
		{spec.Barrier, `before
after
  On every rank r, the call returns only after every rank q has made it.
      entered(q) before returned(r)  for r < size, q < size
  Nothing else is changed.
in place
  
refused`},
		{exchange, `before
  On every rank r, in has count elements.
      len(in[r]) = count  for r < size
  On every rank r, out has 3·count elements.
      len(out[r]) = 3·count  for r < size
  On every rank r, in holds the input of rank r.
      in[r] = x[r]  for r < size
after
  On every rank r, where b == 0, block b of out holds the input of rank if (r - 1) < 0 then (r - 1) + size else r - 1.
      out[r][b] = x[if (r - 1) < 0 then (r - 1) + size else r - 1]  for r < size, b < 3, b == 0
  On every rank r, where b == 2, block b of out holds the input of rank if (r + 1) < size then r + 1 else (r + 1) - size.
      out[r][b] = x[if (r + 1) < size then r + 1 else (r + 1) - size]  for r < size, b < 3, b == 2
  On every rank r, in holds nothing in particular.
      in[r] = ?  for r < size
  Nothing else is changed.
in place
  in and out do not overlap.
refused`},
		{scan, `before
  On every rank r, in has count elements.
      len(in[r]) = count  for r < size
  On every rank r, out has count elements.
      len(out[r]) = count  for r < size
  On every rank r, in holds the input of rank r.
      in[r] = x[r]  for r < size
after
  On every rank r, out holds the reduction of the input of every rank q with q <= r.
      out[r] = ⊕(q < size, q <= r) x[q]  for r < size
  Nothing else is changed.
in place
  On every rank r, out may be the same memory as in; in and out do not overlap otherwise.
      &out[r] = &in[r]  for r < size
refused`},
		{odd, `before
  On every rank r with r < 2, in has count elements; no other rank passes in.
      len(in[r]) = count  for r < size, r < 2
  On every rank r with r < 2, in holds the input of rank r.
      in[r] = x[r]  for r < size, r < 2
after
  On every rank r with r != 0, the call returns only after every rank q with q < r has made it.
      entered(q) before returned(r)  for r < size, r != 0, q < size, q < r
  Nothing else is changed.
in place
  
refused`},
	} {
		if err := spec.Validate(c.p); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(c.want, text(spec.Describe(c.p))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.p.Name, diff)
		}
	}
}

// TestDescribeOrder: what is promised of the order is said where something is reduced, and nowhere else.
func TestDescribeOrder(t *testing.T) {
	for _, c := range []struct {
		p    spec.Primitive
		want string
	}{
		{spec.AllGather, ""},
		{spec.Reduce, ", never on timing."},
		{spec.AllReduce, "they get the same bits."},
		{change(scan, func(p *spec.Primitive) { p.Order = spec.RankOrdered }), "nothing but the inputs."},
	} {
		if got := spec.Describe(c.p).Order; !strings.HasSuffix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %s", c.p.Name, got)
		}
	}
}

// TestHash: the words are not part of the hash, and everything else is (which TestMutants shows). Generated files carry
// hashes, and peers compare them: they change only when a promise does.
func TestHash(t *testing.T) {
	reworded := change(spec.Scatter, func(p *spec.Primitive) { p.Doc, p.Errors[0].Reason = "other", "words" })
	if reworded.Hash() != spec.Scatter.Hash() {
		t.Error("the hash depends on words")
	}
	const want = "4e0e23e16f7288fd"
	if h := spec.AllReduce.Hash(); hex.EncodeToString(h[:8]) != want {
		t.Errorf("the hash of AllReduce is now %x", h[:8])
	}
}
