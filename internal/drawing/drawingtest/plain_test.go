package drawingtest

import "testing"

func TestProblems(t *testing.T) {
	for svg, want := range map[string]int{
		`<svg><rect fill="#fff"/></svg>`: 0,
		`<svg><g><path fill="none" stroke="#000"/><text font-size="11" fill="#000">Info</text></g></svg>`: 0,
		`<svg><style>text { fill: red }</style><rect fill="#fff"/></svg>`:                                 1,
		`<svg><rect class="ground" fill="#fff"/></svg>`:                                                   1,
		`<svg><rect style="fill: red" fill="#fff"/></svg>`:                                                1,
		`<svg><rect fill="currentColor"/></svg>`:                                                          2,
		`<svg><rect fill="var(--ink)" stroke="#000"/></svg>`:                                              1,
		`<svg><rect x="NaN" fill="#fff"/></svg>`:                                                          1,
		`<svg><path fill="none"/></svg>`:                                                                  1,
		`<svg><text fill="#000">t</text></svg>`:                                                           1,
		`<svg><title>empty</title></svg>`:                                                                 1,
	} {
		if found, err := problems(svg); err != nil || len(found) != want {
			t.Errorf("%s: %q, %v; want %d", svg, found, err, want)
		}
	}
	if _, err := problems("<svg>"); err == nil {
		t.Error("no error for half an element")
	}
}
