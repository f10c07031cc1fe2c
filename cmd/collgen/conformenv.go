package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/collgen/collgen/verify/colltest/remote"
)

// setting is an environment variable with its value, or that it is unset.
type setting struct {
	name, value string
	unset       bool
}

// String returns NAME=value, or that it is unset.
func (s setting) String() string {
	if s.unset {
		return s.name + " unset"
	}
	return s.name + "=" + s.value
}

// environment is what -env sets for one run. It is empty without -env.
type environment []setting

// String returns all settings as people read them.
func (e environment) String() string {
	var texts []string
	for _, s := range e {
		texts = append(texts, s.String())
	}
	return strings.Join(texts, ", ")
}

// values returns the values by name; nil: the variable is unset. It returns nil if e is empty.
func (e environment) values() map[string]*string {
	var values map[string]*string
	for _, s := range e {
		if values == nil {
			values = map[string]*string{}
		}
		values[s.name] = nil
		if !s.unset {
			values[s.name] = &s.value
		}
	}
	return values
}

// MarshalJSON writes an object of names and values, where null means that the variable is unset.
func (e environment) MarshalJSON() ([]byte, error) { return json.Marshal(e.values()) }

// environ returns the environment of a process with these settings; nil: that of this process.
func (e environment) environ() []string {
	if len(e) == 0 {
		return nil
	}
	all := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(e, func(s setting) bool { return s.name == name })
	})
	for _, s := range e {
		if !s.unset {
			all = append(all, s.String())
		}
	}
	return all
}

// words returns the words that come before a command to give it these settings.
func (e environment) words() (words []string) {
	if len(e) == 0 {
		return nil
	}
	words = []string{"env"}
	for _, s := range e {
		if s.unset {
			words = append(words, "-u", s.name)
		}
	}
	for _, s := range e {
		if !s.unset {
			words = append(words, quoted(s.String()))
		}
	}
	return words
}

// matrix is a flag, given once for each environment variable: the settings that each is tested with.
type matrix [][]setting

// String returns the flags as one writes them.
func (m *matrix) String() string {
	var texts []string
	for _, settings := range *m {
		texts = append(texts, fmt.Sprint(settings))
	}
	return strings.Join(texts, " ")
}

// mostRuns is the largest number of combinations: more are a slip of the pen.
const mostRuns = 1000

// Set reads NAME=a,b,c. A value - means that the variable is unset. A backslash takes the meaning from the character
// that follows.
func (m *matrix) Set(text string) error {
	name, list, ok := strings.Cut(text, "=")
	switch {
	case !ok || name == "":
		return errors.New("want NAME=a,b,c")
	case strings.ContainsAny(name, " \t\n-") || strings.ContainsRune(text, 0):
		return fmt.Errorf("%q is no name of a variable, or a value has a byte of 0", name)
	case name == remote.Variable:
		return fmt.Errorf("collgen itself sets %s", name)
	}
	runs := 1
	for _, settings := range *m {
		runs *= len(settings)
		if settings[0].name == name {
			return fmt.Errorf("%s is there twice", name)
		}
	}
	settings, err := settings(name, list)
	if err != nil {
		return err
	}
	if runs*len(settings) > mostRuns {
		return fmt.Errorf("more than %d combinations", mostRuns)
	}
	*m = append(*m, settings)
	return nil
}

// settings reads a list of values.
func settings(name, list string) (all []setting, err error) {
	var value strings.Builder
	escaped, plain := false, true
	end := func() error {
		s := setting{name: name, value: value.String()}
		if plain && s.value == "-" {
			s = setting{name: name, unset: true}
		}
		if slices.Contains(all, s) {
			return fmt.Errorf("%v is there twice", s)
		}
		all = append(all, s)
		value.Reset()
		plain = true
		return nil
	}
	for i := range len(list) {
		b := list[i]
		switch {
		case !escaped && b == '\\':
			escaped, plain = true, false
			continue
		case !escaped && b == ',':
			if err := end(); err != nil {
				return nil, err
			}
			continue
		}
		value.WriteByte(b)
		escaped = false
	}
	if escaped {
		return nil, errors.New("there is nothing after the last backslash")
	}
	return all, end()
}

// environments returns all combinations. The last variable changes first. Without a matrix it is one that sets nothing.
func (m matrix) environments() []environment {
	all := []environment{nil}
	for _, settings := range m {
		var longer []environment
		for _, e := range all {
			for _, s := range settings {
				longer = append(longer, append(slices.Clone(e), s))
			}
		}
		all = longer
	}
	return all
}
