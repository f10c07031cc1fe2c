package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/emit/tla"
)

// standard are the modules that the checkers have themselves.
var standard = []string{"Naturals", "Sequences", "FiniteSets"}

var extends = regexp.MustCompile(`(?m)^EXTENDS (.*)\n`)

// modelFile returns the file of a model.
func modelFile(dir, model string) string { return filepath.Join(dir, "models", model+".tla") }

// text returns the model of c as one module, which extends none but standard ones: so both checkers read the same text.
func (c *check) text(dir string) (string, error) {
	b, err := os.ReadFile(modelFile(dir, c.model))
	if err != nil {
		return "", err
	}
	modules := map[string]string{"Trace": c.events, "Frames": c.frames}
	if c.messages != nil {
		modules["Frames"] = smallStream(c.messages, c.told).module()
	}
	if c.algorithm != "" {
		s, err := c.instance()
		if err != nil {
			return "", err
		}
		if modules["Schedule"], modules["CollSpec"], err = tla.Modules(s, c.inPlace); err != nil {
			return "", err
		}
	}
	return inline(dir, string(b), modules)
}

// instance returns the schedule.
func (c *check) instance() (*gen.Schedule, error) {
	all := catalogue.Algorithms()
	i := slices.IndexFunc(all, func(a gen.Algorithm) bool { return a.FullName() == c.algorithm })
	if i < 0 {
		return nil, fmt.Errorf("there is no algorithm %s", c.algorithm)
	}
	s, err := gen.Instantiate(&all[i], c.Params)
	if err != nil {
		return nil, err
	}
	if c.parts > 1 {
		cut(s, c.parts)
	}
	if c.sendsFirst {
		sendFirst(s)
	}
	return s, nil
}

// cut has s made of chunks that are a part of what they were, so that a message of one chunk has several.
func cut(s *gen.Schedule, parts int) {
	s.Chunks *= parts
	longer := func(p *gen.Place) { p.At, p.N, p.Like = p.At*parts, p.N*parts, p.Like*parts }
	for r := range s.Ranks {
		p := &s.Ranks[r]
		p.In, p.Out, p.Scratch = p.In*parts, p.Out*parts, p.Scratch*parts
		for i := range p.Instrs {
			in := &p.Instrs[i]
			longer(&in.Dst)
			for k := range in.Srcs {
				longer(&in.Srcs[k])
			}
		}
	}
}

// sendFirst has the receives of each step wait for the sends before them: it needs room for a message then.
func sendFirst(s *gen.Schedule) {
	for r := range s.Ranks {
		instrs := s.Ranks[r].Instrs
		for i := range instrs {
			if k := instrs[i].Kind; k != gen.RecvInstr && k != gen.RecvReduceInstr {
				continue
			}
			after := slices.Clone(instrs[i].After)
			for j := range i {
				if instrs[j].Kind == gen.SendInstr && instrs[j].Step == instrs[i].Step {
					after = append(after, j)
				}
			}
			instrs[i].After = after
		}
	}
}

// inline returns a module with what stands in those that it extends: of modules, or else in dir.
func inline(dir, text string, modules map[string]string) (string, error) {
	at := extends.FindStringSubmatchIndex(text)
	if at == nil {
		return "", fmt.Errorf("a module that extends nothing")
	}
	var bodies strings.Builder
	var keep []string
	for name := range strings.SplitSeq(text[at[2]:at[3]], ", ") {
		if slices.Contains(standard, name) {
			keep = append(keep, name)
			continue
		}
		m, err := moduleOf(dir, name, modules)
		if err != nil {
			return "", err
		}
		bodies.WriteString(m + "\n\n")
	}
	return declareOnce(text[:at[0]] + "EXTENDS " + strings.Join(keep, ", ") + "\n\n" + bodies.String() + text[at[1]:]), nil
}

var (
	variables = regexp.MustCompile(`(?m)^VARIABLES(?: .*\n|\n(?:  .*\n)+)`)
	remark    = regexp.MustCompile(`\\\*.*`)
)

// declareOnce has text declare all of its variables where it declares the first ones, because tla-checker takes no
// more.
func declareOnce(text string) string {
	var names []string
	for _, block := range variables.FindAllString(text, -1) {
		block = remark.ReplaceAllString(strings.TrimPrefix(block, "VARIABLES"), "")
		names = append(names, strings.FieldsFunc(block, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })...)
	}
	all := "VARIABLES " + strings.Join(names, ", ") + "\n"
	return variables.ReplaceAllStringFunc(text, func(string) string {
		first := all
		all = ""
		return first
	})
}

// moduleOf returns what stands in a module that another one extends.
func moduleOf(dir, name string, modules map[string]string) (string, error) {
	m, given := modules[name]
	if !given {
		b, err := os.ReadFile(modelFile(dir, name))
		if err != nil {
			return "", err
		}
		if m, err = inline(dir, string(b), modules); err != nil {
			return "", err
		}
	}
	_, body, found := strings.Cut(m, " ----\n")
	body, _, ended := strings.Cut(body, "\n====")
	if !found || !ended {
		return "", fmt.Errorf("%s is no module", name)
	}
	return extends.ReplaceAllString(body, ""), nil
}
