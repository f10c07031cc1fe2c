package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// file returns the name of c's configuration, below folder config. All traces of a model share one.
func (c *check) file() string {
	if c.events != "" {
		return c.model + ".cfg"
	}
	return c.model + "/" + c.config + ".cfg"
}

// prepare writes what the checkers read into folder to. The models and configurations are below dir.
func (c *check) prepare(dir, to string) (*task, error) {
	text, err := c.text(dir)
	if err != nil {
		return nil, err
	}
	cfg, err := os.ReadFile(filepath.Join(dir, "config", c.file()))
	if err != nil {
		return nil, err
	}
	t := &task{check: c, dir: to, cfg: string(cfg)}
	if err := t.parse(); err != nil {
		return nil, fmt.Errorf("%s: %w", c.file(), err)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(to, c.model+".tla"), []byte(text), 0o644); err != nil {
		return nil, err
	}
	return t, os.WriteFile(filepath.Join(to, c.model+".cfg"), cfg, 0o644)
}

// parse takes the names of the invariants and of the property out of the configuration. There is one property, because
// TLC does not say which one is violated.
func (t *task) parse() error {
	var properties []string
	into := new([]string)
	for line := range strings.Lines(t.cfg) {
		line, _, _ = strings.Cut(line, "\\*")
		for word := range strings.FieldsSeq(line) {
			switch word {
			case "INVARIANT", "INVARIANTS":
				into = &t.invariants
			case "PROPERTY", "PROPERTIES":
				into = &properties
			case "SPECIFICATION", "CONSTANT", "CONSTANTS":
				into = new([]string)
			default:
				*into = append(*into, word)
			}
		}
	}
	ends := t.events != "" && len(properties) == 0 // a trace that is followed without a deadlock ends
	if len(t.invariants) == 0 || len(properties) != 1 && !ends {
		return fmt.Errorf("%d invariants and %d properties, want some and one", len(t.invariants), len(properties))
	}
	t.property = strings.Join(properties, "")
	return nil
}
