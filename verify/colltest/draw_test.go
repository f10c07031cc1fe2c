package colltest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// randomCase is a case that was drawn, with the ranks' parts of each of its calls.
type randomCase struct {
	Case
	calls [][]*Call // by step and rank
}

// drawnSorts are what has to be among the random cases: for each, a test of one step.
var drawnSorts = map[string]func(d *randomCase, i int) bool{
	"one call":       func(d *randomCase, _ int) bool { return len(d.Steps) == 1 },
	"several calls":  func(d *randomCase, _ int) bool { return len(d.Steps) > 1 },
	"nobody is late": func(d *randomCase, i int) bool { return d.Steps[i].Delay == 0 },
	"rank 0 is late": func(d *randomCase, i int) bool { return d.Steps[i].Delay > 0 && d.Steps[i].Late == 0 },
	"a rank is five milliseconds late": func(d *randomCase, i int) bool {
		return d.Steps[i].Delay >= 5*time.Millisecond
	},
	"a rank is late before many calls": func(d *randomCase, i int) bool {
		return d.Steps[i].Delay >= 4*time.Millisecond && d.Steps[i].Repeat >= 8 && d.Steps[i].Late != d.Steps[i].Root
	},
	"the last of several ranks is late": func(d *randomCase, i int) bool {
		return d.Steps[i].Delay > 0 && d.Size > 1 && d.Steps[i].Late == d.Size-1
	},
	"no elements":                     func(d *randomCase, i int) bool { return d.even(i) == 0 },
	"blocks as long as a few vectors": func(d *randomCase, i int) bool { return d.even(i) > 33 && d.even(i) < 1000 },
	"blocks of thousands of elements": func(d *randomCase, i int) bool { return d.even(i) > 4000 },
	"counts that differ":              func(d *randomCase, i int) bool { return len(distinct(d.Steps[i].Counts)) > 1 },
	"displaced":                       func(d *randomCase, i int) bool { return d.Steps[i].Displaced != 0 },
	"started":                         func(d *randomCase, i int) bool { return d.Steps[i].Mode == Started },
	"batched":                         func(d *randomCase, i int) bool { return d.Steps[i].Mode == Batched },
	"persistent, several times": func(d *randomCase, i int) bool {
		return d.Steps[i].Mode == Persistent && d.Steps[i].Repeat > 1
	},
	"on communicators of some ranks": func(d *randomCase, i int) bool { return d.Steps[i].Comm > 1 },
	"in place":                       func(d *randomCase, i int) bool { return d.Steps[i].InPlace },
	"inputs on their alignment": func(d *randomCase, i int) bool {
		return d.buffers(i, func(c *Call) bool { return c.InCounts != nil && c.InAt%alignment == 0 })
	},
	"inputs off their alignment": func(d *randomCase, i int) bool {
		return d.buffers(i, func(c *Call) bool { return c.InCounts != nil && c.InAt%alignment != 0 })
	},
	"outputs off their alignment": func(d *randomCase, i int) bool {
		return d.buffers(i, func(c *Call) bool { return c.OutCounts != nil && c.OutAt%alignment != 0 })
	},
}

// even returns the length of the blocks of a step, -1 if they differ.
func (d *randomCase) even(i int) int {
	if d.Steps[i].Counts != nil {
		return -1
	}
	return d.Steps[i].Count
}

// buffers reports whether step i has its buffers apart, and one of its calls is as asked for.
func (d *randomCase) buffers(i int, is func(*Call) bool) bool {
	return !d.Steps[i].InPlace && slices.ContainsFunc(d.calls[i], func(c *Call) bool { return c != nil && is(c) })
}

// TestDrawn: a hundred random cases of one primitive have all that is drawn.
func TestDrawn(t *testing.T) {
	can := All("all", 1, 2, 3, 4, 5)
	of := can.Primitives[slices.IndexFunc(can.Primitives, func(x Support) bool { return x.Primitive.Name == "AllGather" })]
	random, missing := rand.New(rand.NewPCG(1, 0)), maps.Clone(drawnSorts)
	for i := range 100 {
		d := randomCase{Case: drawCase(random, &can, []Support{of}, can.Sizes[i%len(can.Sizes)])}
		for i := range d.Steps {
			calls, err := d.Steps[i].Arrange(len(d.members(&d.Steps[i])))
			if err != nil {
				t.Fatal(err)
			}
			d.calls = append(d.calls, calls)
			maps.DeleteFunc(missing, func(_ string, is func(*randomCase, int) bool) bool { return is(&d, i) })
		}
	}
	for name := range missing {
		t.Errorf("in no case: %s", name)
	}
}
