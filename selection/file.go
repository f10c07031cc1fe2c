package selection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Table is what a file of measured rules says: `collperf -tune` writes one, COLL_TUNE names it to a program, and
// `collgen gen -tune` makes code of it. The rules of a primitive count in their order, before the built-in ones, which
// are for the calls that no rule of the file is for.
type Table struct {
	Machine string            `json:"machine,omitempty"` // what was measured, in words
	Date    string            `json:"date,omitempty"`
	Command string            `json:"command,omitempty"` // that wrote the file
	Rules   map[string][]Rule `json:"rules"`             // by the primitive's name
	// what the rules were made from, for people and programs of their own
	Samples json.RawMessage `json:"samples,omitempty"`
}

// The bounds of a file.
const (
	maxFile  = 8 << 20 // bytes
	maxRules = 512     // of one primitive
)

// Decode reads a table. What it says of primitives and algorithms is looked at by [Table.Check]; everything else that
// is wrong is an error that names the place: a field that is not known, a value of another type, too many rules,
// something after the end.
func Decode(from io.Reader) (*Table, error) {
	content, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxFile {
		return nil, fmt.Errorf("the file is longer than %d bytes", maxFile)
	}
	t := new(Table)
	file := struct {
		*Table
		Rules map[string][]json.RawMessage `json:"rules"`
	}{Table: t}
	if err := strict(content, &file); err != nil {
		return nil, err
	}
	if file.Rules == nil {
		return nil, errors.New(`there are no "rules"`)
	}
	t.Rules = make(map[string][]Rule, len(file.Rules))
	for primitive, list := range file.Rules {
		if t.Rules[primitive], err = rulesOf(list); err != nil {
			return nil, fmt.Errorf("rules.%s: %w", printable(primitive), err)
		}
	}
	return t, nil
}

// rulesOf decodes the rules of a primitive.
func rulesOf(list []json.RawMessage) ([]Rule, error) {
	if len(list) > maxRules {
		return nil, fmt.Errorf("%d rules, want at most %d", len(list), maxRules)
	}
	rules := make([]Rule, len(list))
	for i, text := range list {
		if err := strict(text, &rules[i]); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return rules, nil
}

// strict decodes all of text, which has to be of to's form. An error of syntax has its line.
func strict(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			return fmt.Errorf("line %d: something comes after the end", line(text, d.InputOffset()))
		}
		return nil
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("line %d: it ends too early", line(text, int64(len(text))))
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %w", line(text, syntax.Offset), err)
	case errors.As(err, &kind):
		return fmt.Errorf("line %d: %q is a %s, want %v", line(text, kind.Offset), kind.Field, kind.Value, kind.Type)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// line returns the number of the line in text that has that offset.
func line(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n"))
}

// printable returns a name from a file, for messages.
func printable(name string) string {
	if len(name) > 40 {
		name = name[:40]
	}
	quoted := fmt.Sprintf("%q", name)
	return strings.Trim(quoted, `"`)
}

// Check proves that the rules are Legal; algorithms are those of each primitive, by its name. What is not known is an
// error that says what there is. Its errors name the place: the primitive, and the rule's number from 1.
func (t *Table) Check(algorithms map[string][]Algorithm) error {
	var faults []error
	for _, primitive := range sorted(t.Rules) {
		known, ok := algorithms[primitive]
		if !ok {
			faults = append(faults, fmt.Errorf("rules.%s: there is no such collective; there are %s",
				printable(primitive), strings.Join(sorted(algorithms), ", ")))
			continue
		}
		if err := Legal(t.Rules[primitive], known); err != nil {
			faults = append(faults, fmt.Errorf("rules.%s: %w", primitive, err))
		}
	}
	return errors.Join(faults...)
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
