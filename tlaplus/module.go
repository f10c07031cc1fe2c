package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/emit"
)

// standard are the modules that the checkers have themselves.
var standard = []string{"Naturals", "Sequences", "FiniteSets"}

var extends = regexp.MustCompile(`(?m)^EXTENDS (.*)\n`)

// text is the model of c as one module, which extends none but standard ones: so both checkers read the same text.
func (c *check) text(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, c.model+".tla"))
	if err != nil || c.algorithm == "" {
		return string(b), err
	}
	schedule, collSpec, err := c.schedule()
	if err != nil {
		return "", err
	}
	return inline(string(b), map[string]string{"Schedule": schedule, "CollSpec": collSpec})
}

// schedule is the generated modules.
func (c *check) schedule() (schedule, collSpec string, err error) {
	all := gen.Catalogue()
	i := slices.IndexFunc(all, func(a gen.Algorithm) bool { return a.FullName() == c.algorithm })
	if i < 0 {
		return "", "", fmt.Errorf("there is no algorithm %s", c.algorithm)
	}
	s, err := gen.Instantiate(&all[i], c.Params)
	if err != nil {
		return "", "", err
	}
	return emit.TLA(s, c.inPlace)
}

// inline is a module with what stands in those of modules that it extends.
func inline(text string, modules map[string]string) (string, error) {
	at := extends.FindStringSubmatchIndex(text)
	if at == nil {
		return "", fmt.Errorf("a module that extends nothing")
	}
	var keep []string
	var bodies strings.Builder
	for name := range strings.SplitSeq(text[at[2]:at[3]], ", ") {
		if slices.Contains(standard, name) {
			keep = append(keep, name)
			continue
		}
		m, ok := modules[name]
		_, body, found := strings.Cut(m, " ----\n")
		body, _, ended := strings.Cut(body, "\n====")
		if !ok || !found || !ended {
			return "", fmt.Errorf("there is no module %s", name)
		}
		bodies.WriteString(extends.ReplaceAllString(body, "") + "\n\n")
	}
	return text[:at[0]] + "EXTENDS " + strings.Join(keep, ", ") + "\n\n" + bodies.String() + text[at[1]:], nil
}
