package remote

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// version is the first line that a rank writes.
const version = "collgen-conform 1"

// hello is the introduction of a rank: its number and its capabilities.
type hello struct {
	rank, size int
	can        colltest.Capabilities
}

// mostHello is the largest number of lines in a hello.
const mostHello = 100

// readHello reads a hello, up to the line "ready".
func readHello(readLine func() (string, error)) (*hello, error) {
	line, err := readLine()
	if err != nil {
		return nil, err
	}
	if line != version {
		return nil, fmt.Errorf("its first line is %s, want %q", brief(line), version)
	}
	h := &hello{rank: -1}
	for range mostHello {
		if line, err = readLine(); err != nil {
			return nil, err
		}
		if line == "ready" {
			return h, h.check()
		}
		if err := h.line(line); err != nil {
			return nil, fmt.Errorf("in the line %s: %w", brief(line), err)
		}
	}
	return nil, fmt.Errorf("more than %d lines before \"ready\"", mostHello)
}

// check returns an error if something is missing in the hello.
func (h *hello) check() error {
	switch {
	case h.rank < 0:
		return fmt.Errorf("there is no line \"rank R of N\"")
	case len(h.can.Types) == 0:
		return fmt.Errorf("there is no line \"types …\"")
	case h.can.MostCount > 0 && h.can.MostCount < max(1, h.can.LeastCount):
		return fmt.Errorf("at most %d elements in a block, and at least %d", h.can.MostCount, h.can.LeastCount)
	case len(h.can.Primitives) == 0:
		return fmt.Errorf("there is no line \"primitive …\"")
	}
	return nil
}

// line parses one line.
func (h *hello) line(line string) (err error) {
	word, rest, _ := strings.Cut(line, " ")
	words := strings.Fields(rest)
	switch word {
	case "rank":
		return h.who(words)
	case "name":
		h.can.Name = strings.ToValidUTF8(rest, "?")
	case "types":
		h.can.Types, err = named[spec.Type](words)
	case "ops":
		h.can.Ops, err = named[spec.Op](words)
	case "values":
		return h.has(words, map[string]*bool{"overflow": &h.can.Overflow, "nan": &h.can.NaN, "minus-zero": &h.can.MinusZero})
	case "least":
		h.can.LeastCount, err = number(rest, mostLeast)
	case "most":
		h.can.MostCount, err = number(rest, math.MaxInt32)
	case "primitive":
		return h.primitive(words)
	case "calls":
		return h.has(words, map[string]*bool{"start": &h.can.Started, "batch": &h.can.Batches, "prepare": &h.can.Persistent,
			"split": &h.can.Split, "tags": &h.can.Tags})
	case "memory":
		return h.has(words, map[string]*bool{"file": &h.can.Huge})
	case "errors":
		return h.errors(words)
	default:
		return fmt.Errorf("nothing is called %s", brief(word))
	}
	return err
}

// has parses words such as "overflow nan minus-zero", each of which sets one of these.
func (h *hello) has(words []string, these map[string]*bool) error {
	for _, word := range words {
		has, ok := these[word]
		if !ok {
			return fmt.Errorf("nothing here is called %s", brief(word))
		}
		*has = true
	}
	return nil
}

// errors parses "root counts after".
func (h *hello) errors(words []string) error {
	for _, word := range words {
		if word == "after" && slices.Contains(h.can.Refuses, colltest.WrongRoot) {
			h.can.AfterWrong = true
			continue
		}
		if !slices.Contains([]colltest.Wrong{colltest.WrongRoot, colltest.WrongCounts}, colltest.Wrong(word)) ||
			slices.Contains(h.can.Refuses, colltest.Wrong(word)) {
			return fmt.Errorf("want some of %q, %q and, after the first of them, %q, not %s", colltest.WrongRoot,
				colltest.WrongCounts, "after", brief(word))
		}
		h.can.Refuses = append(h.can.Refuses, colltest.Wrong(word))
	}
	return nil
}

// mostRank and mostLeast are the largest numbers of a hello.
const mostRank, mostLeast = 1 << 20, 1000

func number(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("want a number from 0 to %d", most)
	}
	return n, nil
}

// who parses "2 of 4".
func (h *hello) who(words []string) (err error) {
	if len(words) != 3 || words[1] != "of" {
		return fmt.Errorf("want \"rank R of N\"")
	}
	if h.size, err = number(words[2], mostRank); err != nil {
		return err
	}
	h.rank, err = number(words[0], h.size-1)
	return err
}

// named parses names of types or operators, each of which may occur once.
func named[E comparable, P interface {
	*E
	UnmarshalText([]byte) error
}](words []string) (all []E, err error) {
	for _, word := range words {
		var x E
		if err := P(&x).UnmarshalText([]byte(word)); err != nil {
			return nil, err
		}
		if slices.Contains(all, x) {
			return nil, fmt.Errorf("%s is there twice", word)
		}
		all = append(all, x)
	}
	return all, nil
}

// primitive parses "AllGather apart in-place uneven".
func (h *hello) primitive(words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("want the name of a primitive")
	}
	all := colltest.Primitives()
	i := slices.IndexFunc(all, func(p spec.Primitive) bool { return p.Name == words[0] })
	if i < 0 {
		return fmt.Errorf("no primitive is called %s", brief(words[0]))
	}
	s := colltest.Support{Primitive: all[i]}
	for _, form := range words[1:] {
		switch form {
		case "apart":
			s.Apart = true
		case "in-place":
			s.InPlace = true
		case "uneven":
			s.Uneven = true
		case "displaced":
			s.Uneven, s.Displaced = true, true
		default:
			return fmt.Errorf("no form is called %s", brief(form))
		}
	}
	if slices.ContainsFunc(h.can.Primitives, func(x colltest.Support) bool { return x.Primitive.Name == words[0] }) {
		return fmt.Errorf("%s is there twice", words[0])
	}
	h.can.Primitives = append(h.can.Primitives, s)
	return nil
}

// brief returns the beginning of a text from another program, quoted.
func brief(text string) string {
	const most = 80
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}
