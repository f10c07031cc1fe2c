package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// outcome is a line of the journal, by which a run continues where the last one ended.
type outcome struct {
	Package string  `json:"package"`
	Mutant  string  `json:"mutant"`
	Killer  string  `json:"killer"`          // the name of a stage; "": it survives
	Words   string  `json:"words,omitempty"` // of the failure
	Absent  bool    `json:"absent"`
	Seconds float64 `json:"seconds"`
}

// sample tries mutants of a subject in an order that the seed determines, until the number asked for have compiled, or
// none are left. It returns fewer if the time is up, or if the options allow only mutants in the journal and there are
// not enough.
func (s subject) sample(ctx context.Context, o options, keep *journal, until time.Time) (tried []outcome, fewer bool,
	err error) {
	all, err := sourceMutants(o.root, s.pkg)
	if err != nil {
		return nil, false, err
	}
	n := s.asked(o.code)
	if n < 0 {
		n = len(all)
	}
	made := len(all)
	if o.known {
		all = slices.DeleteFunc(all, func(p patch) bool { return !keep.has(p.key()) })
	}
	inOrder(all, o.seed, keep)
	var (
		mu     sync.Mutex
		faults []error
		next   int
		viable int
		group  sync.WaitGroup
	)
	again, stages := o.again, baseline(ctx, o.root, s.stages...)
	take := func() (patch, bool) {
		mu.Lock()
		defer mu.Unlock()
		for next < len(all) && viable < n {
			p := all[next]
			next++
			if o, ok := keep.find(p.key()); ok && !(again && survives(o)) {
				if !o.Absent {
					viable++
					tried = append(tried, o)
				}
				continue
			}
			if !time.Now().Before(until) {
				fewer = true
				break
			}
			viable++ // until the compiler refuses it
			return p, true
		}
		return patch{}, false
	}
	give := func(p patch, v verdict, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			faults = append(faults, err)
			return
		}
		o := outcome{s.pkg, p.key(), v.killer, "", v.absent, v.took.Seconds()}
		if v.killer != "" {
			o.Words = words(v.output)
		}
		keep.add(o)
		if v.absent {
			viable--
			return
		}
		tried = append(tried, o)
	}
	for range o.workers {
		group.Go(func() {
			for p, ok := take(); ok; p, ok = take() {
				v, err := p.try(ctx, o.root, stages)
				give(p, v, err)
				if err != nil {
					return
				}
			}
		})
	}
	group.Wait()
	fewer = fewer || viable < n && len(all) < made
	return tried, fewer, errors.Join(faults...)
}

// inOrder shuffles mutants by the seed, and puts those that the journal has first.
func inOrder(all []patch, seed uint64, keep *journal) {
	rank := map[string]uint64{}
	for _, p := range all {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %s", seed, p.key())
		if rank[p.key()] = h.Sum64() >> 1; !keep.has(p.key()) {
			rank[p.key()] += 1 << 63
		}
	}
	slices.SortFunc(all, func(a, b patch) int { return cmp.Compare(rank[a.key()], rank[b.key()]) })
}

// total returns the number of the subject's mutants, including those that do not compile.
func (s subject) total(root string) int {
	all, err := sourceMutants(root, s.pkg)
	if err != nil {
		return 0
	}
	return len(all)
}

// survives reports whether a mutant was not found, and not because it is none.
func survives(o outcome) bool { return o.Killer == "" && !o.Absent && !isSame(o.Mutant) }

// journal keeps outcomes in a file.
type journal struct {
	name string
	have map[string]outcome
}

func openJournal(name string) (*journal, error) {
	j := &journal{name, map[string]outcome{}}
	f, err := os.Open(name)
	if name == "" || errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var o outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		j.have[o.Mutant] = o
	}
	return j, nil
}

func (j *journal) find(mutant string) (outcome, bool) {
	o, ok := j.have[mutant]
	return o, ok
}

func (j *journal) has(mutant string) bool {
	_, ok := j.have[mutant]
	return ok
}

func (j *journal) add(o outcome) {
	j.have[o.Mutant] = o
	if j.name == "" {
		return
	}
	line, _ := json.Marshal(o)
	if f, err := os.OpenFile(j.name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintf(f, "%s\n", line)
		f.Close()
	}
}
