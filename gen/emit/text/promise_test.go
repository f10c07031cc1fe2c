package text

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	long := strings.Repeat("x", int(lineLength)-2)
	for _, test := range []struct{ text, want string }{
		{"a b", "1 a b\n"},
		{long + " b " + long, "1 " + long + "\n2 b\n2 " + long + "\n"},
		{long + " - b", "1 " + long + " -\n2 b\n"},
		{long + " 2. b", "1 " + long + " 2.\n2 b\n"},
	} {
		if got := lineLength.wrap(test.text, "1 ", "2 "); got != test.want {
			t.Errorf("%q is wrapped as %q, want %q", test.text, got, test.want)
		}
	}
}
