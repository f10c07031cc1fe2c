package figures

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestReplace replaces what is between the lines and nothing else, and leaves a file alone that has not both, in this
// order, or for which there is nothing to write.
func TestReplace(t *testing.T) {
	const begin, end = "<!-- from here -->\n", "<!-- to here -->\n"
	broken := errors.New("broken")
	for _, test := range []struct {
		before, after string
		fails         error
	}{
		{"one\n" + begin + "old\n" + end + "two\n", "one\n" + begin + "new\n" + end + "two\n", nil},
		{begin + end, begin + "new\n" + end, nil},
		{"one\n" + begin + "old\n", "", nil},
		{"one\n" + end, "", nil},
		{end + begin, "", nil},
		{"", "", nil},
		{begin + end, "", broken},
	} {
		path := filepath.Join(t.TempDir(), "page.md")
		if err := os.WriteFile(path, []byte(test.before), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Replace(path, begin, end, func(w io.Writer) error {
			_, err := io.WriteString(w, "new\n")
			return errors.Join(err, test.fails)
		})
		want := test.after
		if want == "" {
			want = test.before
		}
		if got, _ := os.ReadFile(path); string(got) != want || (err != nil) != (test.after == "") || test.fails != nil &&
			!errors.Is(err, test.fails) {
			t.Errorf("%q becomes %q, want %q: %v", test.before, got, want, err)
		}
	}
	if err := Replace(filepath.Join(t.TempDir(), "none.md"), begin, end, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestHere(t *testing.T) {
	if here := Here(); !regexp.MustCompile(`^\d{4}-\d\d-\d\d, \d+ cores of .+, \w+/\w+, \S+`).MatchString(here) {
		t.Error(here)
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		sorted []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{1, 9}, 5}, {[]float64{1, 2, 9}, 2}, {[]float64{1, 2, 3, 4}, 2.5}} {
		if got := Median(test.sorted); got != test.want {
			t.Errorf("the median of %v is %v, want %v", test.sorted, got, test.want)
		}
	}
}
