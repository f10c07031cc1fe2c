package bench

import "testing"

func TestSpread(t *testing.T) {
	typical, single := Times{5, 1, 3, 2}, make(Times, 1000)
	for i := range single {
		single[i] = float64(1000 - i)
	}
	got := spreadOf(typical, single)
	want := Spread{Min: 1, Median: 2.5, Mean: 2.75, P50: 500, P90: 900, P99: 990, P999: 999, Max: 1000}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := spreadOf(Times{7}, Times{7}); got != (Spread{7, 7, 7, 7, 7, 7, 7, 7}) {
		t.Errorf("%+v", got)
	}
}
