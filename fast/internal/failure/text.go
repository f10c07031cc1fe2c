package failure

import (
	"slices"
	"strings"
	"unicode"
)

// MaxText is the most bytes of a text that goes into a notice or a trace.
const MaxText = 4 << 10

// Legible returns text of another process without control characters, which a terminal would obey.
func Legible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r): // between errors that are joined
			return ' '
		case unicode.IsControl(r):
			return '?'
		}
		return r
	}, text)
}

// OneLine returns text on one line, cut to MaxText.
func OneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return text[:min(len(text), MaxText)]
}

// Printable reports whether texts have no control characters.
func Printable(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) })
}
