package main

import "testing"

func TestSpread(t *testing.T) {
	typical, single := times{5, 1, 3, 2}, make(times, 1000)
	for i := range single {
		single[i] = float64(1000 - i)
	}
	got := spreadOf(typical, single)
	want := spread{Min: 1, Median: 2.5, Mean: 2.75, P50: 500, P90: 900, P99: 990, P999: 999, Max: 1000}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := spreadOf(times{7}, times{7}); got != (spread{7, 7, 7, 7, 7, 7, 7, 7}) {
		t.Errorf("%+v", got)
	}
}
