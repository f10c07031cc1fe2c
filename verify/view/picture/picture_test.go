package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/verify/view"
)

// draw returns the picture of a call.
func draw(t *testing.T, a *gen.Algorithm, p gen.Params) (*view.Data, string) {
	t.Helper()
	d, err := view.Of(a, p, false)
	if err != nil {
		t.Fatal(err)
	}
	svg, err := SVG(d)
	if err != nil {
		t.Fatal(err)
	}
	return d, svg
}

// elements returns how many elements of each name a text has, which is XML.
func elements(t *testing.T, text string) map[string]int {
	t.Helper()
	n := map[string]int{}
	for in := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			n[e.Name.Local]++
		}
	}
}

// TestStripes: the stripe of a rank has its colour, its number and its place.
func TestStripes(t *testing.T) {
	_, svg := draw(t, &catalogue.AllReduceRing, gen.Params{Size: 4, Depth: 1})
	list := regexp.MustCompile(`<rect x="([\d.]+)" y="1" width="([\d.]+)" height="[\d.]+" fill="(#\w+)"/><text [^>]*>(\d)<`).
		FindAllStringSubmatch(svg, -1)
	seen := map[string]bool{}
	for _, m := range list {
		x, err1 := strconv.ParseFloat(m[1], 64)
		width, err2 := strconv.ParseFloat(m[2], 64)
		rank, err3 := strconv.Atoi(m[4])
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		if place := 1 + float64(rank)*width; math.Abs(x-place) > 0.2 || m[3] != colours[rank].fill {
			t.Errorf("the stripe %s is %s, at %v of width %v", m[4], m[3], x, width)
		}
		seen[m[4]] = true
	}
	if len(list) < 16 || len(seen) != 4 {
		t.Errorf("%d stripes of %d ranks", len(list), len(seen))
	}
}

// TestPictures: the pictures of all algorithms are well formed, and a token moves for each message.
func TestPictures(t *testing.T) {
	for _, a := range catalogue.Algorithms() {
		calls := a.Calls(4, 2)
		d, svg := draw(t, &a, calls[len(calls)-1])
		n := elements(t, svg)
		messages := 0
		for round := range d.Rounds {
			messages += len(d.Sends(round))
		}
		if n["animateTransform"] != messages || n["script"]+n["style"]+n["foreignObject"] > 0 {
			t.Errorf("%s: of %d messages there are %v", a.FullName(), messages, n)
		}
		for rank := range d.Size {
			if want := "rank " + string(rune('0'+rank)); !strings.Contains(svg, want) {
				t.Errorf("%s: there is no %s", a.FullName(), want)
			}
		}
	}
}

// TestStill: where nothing moves, one step is shown, and what is there after it.
func TestStill(t *testing.T) {
	_, svg := draw(t, &catalogue.AllReduceRing, gen.Params{Size: 4, Depth: 1})
	shown := strings.Count(svg, `<g opacity="1">`)
	// Four chunks have changed, of the twelve others those that change later; four messages, and the name of the step.
	if want := 4 + 12 + 4 + 1; shown != want {
		t.Errorf("%d groups are shown, want %d", shown, want)
	}
	if !strings.Contains(svg, `opacity="1"><animate`) || !strings.Contains(svg, "step 1 of 6") {
		t.Error(svg[:400])
	}
}

// TestNoRoom: what has too many ranks has no picture.
func TestNoRoom(t *testing.T) {
	for _, size := range []int{17, 1024} {
		d, err := view.Of(&catalogue.AllReduceRing, gen.Params{Size: size, Depth: 1}, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := SVG(d); err == nil || !strings.Contains(err.Error(), "up to 16 ranks") {
			t.Errorf("%d ranks: %v", size, err)
		}
	}
}
