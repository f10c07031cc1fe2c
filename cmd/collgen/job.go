package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/collgen/collgen/gen/emit/golang"
	"github.com/collgen/collgen/gen/readback"
	"github.com/collgen/collgen/internal/program"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// job is a package on its way through the passes.
type job struct {
	*source
	options  verify.Options
	someOnly bool // the sizes are not all: an algorithm that serves none of them is no error
	progress *program.Progress
	files    map[string][]byte // what is generated, by name
}

// each calls f for every algorithm until ctx ends. Its error is all errors of f, each with its position.
func (j *job) each(ctx context.Context, f func(*algorithm) error) error {
	var faults []error
	for _, a := range j.algorithms {
		err := f(a)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			j.find(ctx)
			faults = append(faults, a.locate(err))
		}
	}
	return errors.Join(faults...)
}

// blame returns err with the position of the algorithm that it is about; of the first one for p, if it is about p.
func (j *job) blame(ctx context.Context, p spec.Primitive, err error) error {
	j.find(ctx)
	algorithms := j.of(p)
	for _, a := range algorithms {
		if a.FullName() == blamed(err) {
			return a.locate(err)
		}
	}
	return algorithms[0].locate(fmt.Errorf("%s: %w", p.Name, err))
}

// blamed returns the name of the algorithm that err is about; empty if it is about none.
func blamed(err error) string {
	var printed *golang.Error
	var read *readback.Error
	switch {
	case errors.As(err, &printed):
		return printed.Algorithm
	case errors.As(err, &read):
		return read.Algorithm
	}
	return ""
}
