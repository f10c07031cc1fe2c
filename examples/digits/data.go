package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"strconv"
)

//go:embed digits.csv.gz
var digitsCSV []byte // where it comes from: DATA.md

// image is a handwritten digit.
type image struct {
	pixels [inputs]float32 // 8 rows of 8, from 0 to 1
	digit  int
}

// load reads all images and shuffles them, in the same way on every rank: four fifths to train on, one fifth to test.
func load() (training, test []image, err error) {
	r, err := gzip.NewReader(bytes.NewReader(digitsCSV))
	if err != nil {
		return nil, nil, err
	}
	in := csv.NewReader(r)
	in.FieldsPerRecord = inputs + 1
	records, err := in.ReadAll()
	if err != nil {
		return nil, nil, err
	}
	images := make([]image, len(records))
	for i, record := range records {
		if images[i], err = parse(record); err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	rand.New(rand.NewPCG(1, 0)).Shuffle(len(images), func(i, j int) { images[i], images[j] = images[j], images[i] })
	n := len(images) * 4 / 5
	return images[:n], images[n:], nil
}

// parse reads one line: the pixels, each from 0 to 16, and the digit.
func parse(record []string) (image, error) {
	var im image
	for i, field := range record {
		limit := 16
		if i == inputs {
			limit = classes - 1
		}
		v, err := strconv.Atoi(field)
		if err != nil || v < 0 || v > limit {
			return im, fmt.Errorf("field %d is %q, want 0 to %d", i+1, field, limit)
		}
		if i == inputs {
			im.digit = v
		} else {
			im.pixels[i] = float32(v) / 16
		}
	}
	return im, nil
}
