package replay_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/internal/events"
	"github.com/collgen/collgen/internal/events/edit"
	"github.com/collgen/collgen/verify/replay"
)

// lines returns a file as its process has written it.
func lines(f *events.File) (all []string) {
	for _, v := range append([]any{f.Header}, anys(f.Events)...) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		all = append(all, string(text))
	}
	return all
}

func anys[T any](list []T) (all []any) {
	for _, x := range list {
		all = append(all, x)
	}
	return all
}

// replayed reads files and replays them.
func replayed(files [][]string) {
	var all []*events.File
	for _, f := range files {
		if file, err := events.Read(strings.NewReader(strings.Join(f, "\n") + "\n")); err == nil {
			all = append(all, file)
		}
	}
	_, _ = replay.Replay(all, catalogue.Algorithms())
}

// FuzzReplay: whatever is in the files, there is an error or a report.
func FuzzReplay(f *testing.F) {
	files := read(f, inproc.run(f, 2, "few"))
	text := func(file *events.File) string { return strings.Join(lines(file), "\n") + "\n" }
	f.Add(text(files[0]), text(files[1]))
	f.Fuzz(func(t *testing.T, a, b string) {
		replayed([][]string{strings.Split(a, "\n"), strings.Split(b, "\n")})
	})
}

// FuzzEdited: so it is with real files in which numbers are others, and lines gone, doubled or swapped.
func FuzzEdited(f *testing.F) {
	var runs [][][]string
	for _, do := range []string{"few", "ahead"} {
		var texts [][]string
		for _, file := range read(f, inproc.run(f, 2, do)) {
			texts = append(texts, lines(file))
		}
		runs = append(runs, texts)
	}
	f.Add([]byte{0, 0, 0, 0, 0, 0, 1})
	f.Add([]byte{1, 0, 0, 2, 3, 9, 9, 1, 0, 2, 3, 9, 9})
	f.Fuzz(func(t *testing.T, edits []byte) {
		if len(edits) == 0 {
			return
		}
		files := slices.Clone(runs[int(edits[0])%len(runs)])
		for i := range files {
			files[i] = slices.Clone(files[i])
		}
		for edits = edits[1:]; len(edits) >= 6; edits = edits[6:] {
			at := &files[int(edits[0])%len(files)]
			*at = editLine(*at, int(edits[1])<<8|int(edits[2]), edits[3], edits[4], edits[5])
		}
		replayed(files)
	})
}

// editLine changes one line of a file, and numbers the events again.
func editLine(file []string, line int, how, which, value byte) []string {
	if line %= len(file); line == 0 && how%4 != 3 {
		return file
	}
	switch how % 4 {
	case 0:
		file = edit.Drop(file, line)
	case 1:
		file = edit.Double(file, line)
	case 2:
		file[line], file[len(file)-1] = file[len(file)-1], file[line]
	case 3:
		file[line] = withNumber(file[line], int(which), int(value))
	}
	for n := 1; n < len(file); n++ {
		file[n] = set(file[n], func(e map[string]any) { e["n"] = n })
	}
	return file
}

// set returns a line with another value.
func set(line string, change func(map[string]any)) string {
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	e := map[string]any{}
	if err := d.Decode(&e); err != nil {
		return line
	}
	change(e)
	text, err := json.Marshal(e)
	if err != nil {
		return line
	}
	return string(text)
}

// withNumber returns a line with another value for one of its numbers.
func withNumber(line string, which, value int) string {
	values := []int64{0, 1, 2, 3, 7, 8, -1, 255, 1 << 15, 1 << 16, 1 << 20, 1 << 24, 1<<31 - 1, 1 << 31, 1 << 47, 1 << 48,
		1<<63 - 1}
	return set(line, func(e map[string]any) {
		var places []func(any)
		walk(e, &places)
		if len(places) > 0 {
			places[which%len(places)](values[value%len(values)])
		}
	})
}

// walk lists how each number in x is set.
func walk(x any, places *[]func(any)) {
	switch x := x.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			if _, ok := x[name].(json.Number); ok {
				*places = append(*places, func(v any) { x[name] = v })
			}
			walk(x[name], places)
		}
	case []any:
		for i := range x {
			if _, ok := x[i].(json.Number); ok {
				*places = append(*places, func(v any) { x[i] = v })
			}
			walk(x[i], places)
		}
	}
}
