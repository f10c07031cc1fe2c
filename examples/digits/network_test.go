package main

import (
	"math"
	"testing"
)

func TestData(t *testing.T) {
	training, test, err := load()
	if err != nil {
		t.Fatal(err)
	}
	if len(training) != 1437 || len(test) != 360 {
		t.Errorf("%d images to train on, %d to test", len(training), len(test))
	}
	var count [classes]int
	for _, im := range append(training, test...) {
		count[im.digit]++
	}
	if want := [classes]int{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}; count != want {
		t.Errorf("images per digit: %v, want %v", count, want)
	}
}

func TestParseRefuses(t *testing.T) {
	good := make([]string, inputs+1)
	for i := range good {
		good[i] = "9"
	}
	if _, err := parse(good); err != nil {
		t.Fatal(err)
	}
	for i, bad := range map[int]string{0: "17", 1: "-1", 2: "x", 3: "", inputs: "10"} {
		record := append([]string(nil), good...)
		record[i] = bad
		if _, err := parse(record); err == nil {
			t.Errorf("field %d = %q is accepted", i, bad)
		}
	}
}

// TestGradient compares the gradient with differences of the loss.
func TestGradient(t *testing.T) {
	images, _, err := load()
	if err != nil {
		t.Fatal(err)
	}
	images = images[:8]
	p, grad := make([]float32, parameters), make([]float32, parameters)
	initialize(p, 3)
	kept := make([]activations, len(images))
	evaluate(p, images, kept)
	differentiateSecond(p, grad, kept)
	differentiateFirst(p, grad, images, kept)
	const h = 1e-3
	for i := 0; i < parameters; i += 7 {
		was := p[i]
		p[i] = was + h
		above := evaluate(p, images, nil).loss
		p[i] = was - h
		below := evaluate(p, images, nil).loss
		p[i] = was
		if want := (above - below) / (2 * h); math.Abs(want-float64(grad[i])) > 0.02 {
			t.Errorf("parameter %d: derivative %g, want %g", i, grad[i], want)
		}
	}
}
