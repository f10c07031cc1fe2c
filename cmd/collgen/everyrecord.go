package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/verify/smtproof"
	"golang.org/x/tools/go/packages"
)

// What was proved for every size is recorded: that of the catalogue in package smtproof, that of another package beside
// its generated code. A record counts only as long as the algorithm, its invariants and what is derived from them are
// the same.

// recordName is the name of the record in the folder of a package.
const recordName = "zproved.txt"

// catalogueRecord is the package that has the catalogue's record, proved.txt.
const catalogueRecord = "github.com/collgen/collgen/verify/smtproof"

// records returns those that there are for s.
func (s *source) records() ([]smtproof.Record, error) {
	if s.isBuiltIn {
		return smtproof.Records()
	}
	name := filepath.Join(s.dir, recordName)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := smtproof.ReadRecords(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", relativeName(name), err)
	}
	return list, nil
}

// recordFile returns where the record of s is.
func (s *source) recordFile(ctx context.Context) (string, error) {
	if !s.isBuiltIn {
		return filepath.Join(s.dir, recordName), nil
	}
	found, err := packages.Load(&packages.Config{Context: ctx, Mode: packages.NeedFiles}, catalogueRecord)
	if err != nil || len(found) != 1 || len(found[0].GoFiles) == 0 {
		return "", errors.Join(err, errors.New("the catalogue's record is written in collgen's own module alone"))
	}
	return filepath.Join(filepath.Dir(found[0].GoFiles[0]), "proved.txt"), nil
}

// quoteProofs finds out what was proved for every size of the algorithms as they are now.
func quoteProofs(ctx context.Context, j *job) error {
	return j.quoteProofs(ctx, func(a gen.Algorithm) gen.Algorithm { return a })
}

// recallEmitted is quoteProofs for algorithms as they were declared: the record is of the form of which Go is
// generated.
func recallEmitted(ctx context.Context, j *job) error {
	return j.quoteProofs(ctx, func(a gen.Algorithm) gen.Algorithm { return gen.Prune(gen.Simplify(a)) })
}

func (j *job) quoteProofs(ctx context.Context, form func(gen.Algorithm) gen.Algorithm) error {
	list, err := j.records()
	if err != nil {
		return err
	}
	return j.each(ctx, func(a *algorithm) error {
		f := form(a.Algorithm)
		if p, err := smtproof.ProblemOf(&f); err == nil { // otherwise there is no argument for it, and no record
			a.every, _ = p.Recorded(list)
		}
		return nil
	})
}
