package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
	"github.com/collgen/collgen/verify/colltest"
)

// This file has the file of -baseline: its entries, and how it is read and written.

// knownFailure is an entry of a file of known failures. docs/conform.md says which failures it stands for.
type knownFailure struct {
	Environment map[string]*string   `json:"environment,omitempty"` // what -env sets; null: unset
	Primitive   string               `json:"primitive"`
	Form        string               `json:"form"`
	Kind        colltest.ProblemKind `json:"kind"`
	With        []string             `json:"with,omitempty"`  // types and ops; "*": any
	Values      string               `json:"values"`          // in the inputs
	Ranks       int                  `json:"ranks"`           // the smallest number with which it fails
	Calls       []string             `json:"calls,omitempty"` // the primitives of all calls, if there are several
	Part        string               `json:"part,omitempty"`  // mixed, soak or huge, if no test of one primitive shows it
	Says        string               `json:"says,omitempty"`  // what the text of the failure has to contain
	Note        string               `json:"note"`
}

// any stands for all types and ops.
const anyTypeOp = "*"

// baselineFile is what is in a file of known failures.
type baselineFile struct {
	Known []knownFailure `json:"known"`
}

// String returns the failure on one line.
func (k knownFailure) String() string {
	var b strings.Builder
	b.WriteString(k.Primitive)
	if len(k.With) > 0 {
		fmt.Fprintf(&b, " of %s", strings.Join(k.With, ", "))
	}
	fmt.Fprintf(&b, ", %s, %s values, from %d ranks: %s", k.Form, k.Values, k.Ranks, k.Kind)
	if len(k.Calls) > 0 {
		fmt.Fprintf(&b, " in calls of %s", strings.Join(k.Calls, ", "))
	}
	return b.String()
}

// mostBaseline is the largest size of a file of known failures, in bytes.
const mostBaseline = 16 << 20

// readBaseline reads a file of known failures. Without a name there are none.
func readBaseline(name string) ([]knownFailure, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostBaseline+1))
	if err == nil && len(text) > mostBaseline {
		err = fmt.Errorf("more than %d bytes", mostBaseline)
	}
	if err != nil {
		return nil, fmt.Errorf("-baseline %s: %w", name, err)
	}
	known, err := decodeBaseline(text)
	if err != nil {
		return nil, fmt.Errorf("-baseline %s: %w", name, err)
	}
	return known, nil
}

// decodeBaseline reads the text of a file of known failures.
func decodeBaseline(text []byte) ([]knownFailure, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var file baselineFile
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the object")
	}
	if name, is := repeatedKey(text); is {
		return nil, fmt.Errorf("%q is there twice in one object", name)
	}
	if file.Known == nil {
		return nil, errors.New(`there is no "known"`)
	}
	for i := range file.Known {
		k := &file.Known[i]
		if err := k.check(); err != nil {
			return nil, fmt.Errorf("known failure %d: %w", i+1, err)
		}
		if k.Calls = callsOf(k.Calls); len(k.Environment) == 0 {
			k.Environment = nil
		}
	}
	return file.Known, nil
}

// repeatedKey returns a key that an object in JSON has twice, of which the decoder takes the last one, and whether
// there is one. Keys that differ in case alone are taken for the same, as the decoder does with names of fields.
func repeatedKey(text []byte) (key string, is bool) {
	var objects []map[string]bool // what is open; nil: a list
	isKey := false
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if err != nil {
			return "", false
		}
		switch token {
		case json.Delim('{'):
			objects, isKey = append(objects, map[string]bool{}), true
			continue
		case json.Delim('['):
			objects, isKey = append(objects, nil), false
			continue
		case json.Delim('}'), json.Delim(']'):
			objects = objects[:len(objects)-1]
			isKey = false
		}
		inside := len(objects) > 0 && objects[len(objects)-1] != nil
		if name, _ := token.(string); inside && isKey {
			if name = strings.ToLower(name); objects[len(objects)-1][name] {
				return token.(string), true
			}
			objects[len(objects)-1][name] = true
		}
		isKey = inside && !isKey
	}
}

// kindsOfValues are the names of kinds of values.
var kindsOfValues = map[spectest.Kind]string{spectest.Ordinary: "ordinary", spectest.Whole: "whole",
	spectest.Special: "special", spectest.AnyBits: "any-bits", spectest.Mixed: "mixed"}

// check returns an error if k cannot stand for a failure.
func (k knownFailure) check() error {
	primitives := slices.Collect(func(yield func(string) bool) {
		for _, p := range colltest.Primitives() {
			if !yield(p.Name) {
				return
			}
		}
	})
	for _, x := range []struct {
		field  string
		values []string
		may    []string
	}{
		{"primitive", []string{k.Primitive}, primitives},
		{"kind", []string{string(k.Kind)}, problemKinds},
		{"values", []string{k.Values}, slices.Sorted(maps.Values(kindsOfValues))},
		{"calls", k.Calls, primitives},
		{"part", []string{k.Part}, []string{"", colltest.Mixed, colltest.Soak, colltest.Huge}},
		{"with", k.With, append(allTypeOps(k.Primitive), anyTypeOp)},
	} {
		for _, value := range x.values {
			if !slices.Contains(x.may, value) {
				return fmt.Errorf("%s: %q is none of %s", x.field, value, strings.Join(x.may, ", "))
			}
		}
	}
	switch {
	case !isForm(k.Form):
		return fmt.Errorf("form: %q, want some of %s in this order, the first or second of them first", k.Form,
			strings.Join(formWords, ", "))
	case k.Ranks < 1:
		return fmt.Errorf("ranks: %d, want at least 1", k.Ranks)
	case len(k.Calls) == 1:
		return errors.New("calls: one call is left out")
	case len(k.With) == 0 && len(allTypeOps(k.Primitive)) > 0:
		return errors.New(`with: there is no type, such as "float32" or "float32 sum"`)
	}
	return nil
}

// problemKinds are the names of all kinds of problems.
var problemKinds = []string{string(colltest.Hang), string(colltest.Erred), string(colltest.Early),
	string(colltest.Stray), string(colltest.Value), string(colltest.Disagree), string(colltest.Accepted)}

// allTypeOps returns the types, or types and ops, that a primitive can be called with, none if it has no buffers.
func allTypeOps(primitive string) (all []string) {
	primitives := colltest.Primitives()
	i := slices.IndexFunc(primitives, func(p spec.Primitive) bool { return p.Name == primitive })
	if i < 0 {
		return nil
	}
	for _, t := range spec.Types() {
		ops := []spec.Op{0}
		if slices.Contains(primitives[i].Params, spec.ParamOp) {
			ops = allOps()
		}
		for _, op := range ops {
			s := colltest.Step{Primitive: primitive, Type: t, Op: op}
			if name := s.TypeOp(); name != "" && (op == 0 || op.Takes(t)) {
				all = append(all, name)
			}
		}
	}
	return all
}

// encodeBaseline returns the text of a file of known failures.
func encodeBaseline(known []knownFailure) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(baselineFile{append([]knownFailure{}, known...)}) // it has nothing that JSON cannot say
	return b.Bytes()
}

// same reports whether two entries differ at most in types and ops, and the note.
func (k knownFailure) same(other knownFailure) bool {
	k.With, k.Note = other.With, other.Note
	return reflect.DeepEqual(k, other)
}

// merge adds an entry to a list, or its types and ops to an entry that is the same and has no other note.
func merge(list []knownFailure, k knownFailure) []knownFailure {
	i := slices.IndexFunc(list, func(old knownFailure) bool { return k.same(old) && (k.Note == "" || k.Note == old.Note) })
	if i < 0 {
		return append(list, k)
	}
	old := &list[i]
	old.With = slices.Concat(old.With, k.With)
	slices.SortFunc(old.With, compareTypeOps)
	old.With = slices.Compact(old.With)
	return list
}

// writeBaselineFile writes a file of known failures.
func writeBaselineFile(name string, known []knownFailure) error {
	return replaceFile(name, encodeBaseline(known))
}

// standsFor reports whether k is the failure that is, whose text is given, but for its types and ops.
func (k knownFailure) standsFor(is knownFailure, text string) bool {
	isSame := is
	isSame.Part, isSame.Says, isSame.Ranks = k.Part, k.Says, k.Ranks
	return k.same(isSame) && is.Ranks >= k.Ranks && strings.Contains(text, k.Says)
}

// covers reports whether k names a type and op.
func (k knownFailure) covers(typeOp string) bool {
	return slices.Contains(k.With, typeOp) || slices.Contains(k.With, anyTypeOp)
}
