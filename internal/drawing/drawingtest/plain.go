// Package drawingtest checks SVG: that renderers other than browsers show it as browsers do.
package drawingtest

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// Plain fails the test unless svg is XML whose elements have their looks as attributes of their own. The looks of
// other SVG are up to style sheets, which many renderers ignore: they paint what has no color black.
func Plain(t testing.TB, svg string) {
	t.Helper()
	found, err := problems(svg)
	if err != nil {
		t.Error(err)
	}
	for _, p := range found {
		t.Error(p)
	}
}

// known are the elements that a plain SVG consists of. Those with true are painted.
var known = map[string]bool{"svg": false, "title": false, "desc": false, "g": false, "marker": false, "rect": true,
	"circle": true, "line": true, "path": true, "text": true}

// problems returns what a renderer without style sheets would not show as it is meant.
func problems(svg string) (found []string, err error) {
	d := xml.NewDecoder(strings.NewReader(svg))
	painted := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return found, err
		}
		if e, ok := token.(xml.StartElement); ok {
			paints, ok := known[e.Name.Local]
			if !ok {
				found = append(found, "element "+e.Name.Local)
			}
			if paints {
				painted++
			}
			found = append(found, problemsOf(&e, paints)...)
		}
	}
	if painted == 0 {
		found = append(found, "nothing is painted")
	}
	return found, nil
}

func problemsOf(e *xml.StartElement, paints bool) (found []string) {
	colors, sized := 0, false
	for _, a := range e.Attr {
		name, value := a.Name.Local, a.Value
		if name == "class" || name == "style" {
			found = append(found, fmt.Sprintf("%s of %s", name, e.Name.Local))
		}
		if strings.Contains(value, "currentColor") || strings.Contains(value, "var(") || strings.Contains(value, "NaN") ||
			strings.Contains(value, "Inf") {
			found = append(found, fmt.Sprintf("%s=%q of %s", name, value, e.Name.Local))
		}
		if (name == "fill" || name == "stroke") && strings.HasPrefix(value, "#") {
			colors++
		}
		sized = sized || name == "font-size"
	}
	if paints && colors == 0 {
		found = append(found, e.Name.Local+" without a color")
	}
	if e.Name.Local == "text" && !sized {
		found = append(found, "text without a size")
	}
	return found
}
