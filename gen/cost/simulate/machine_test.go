package simulate

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
)

func TestRate(t *testing.T) {
	r := Rate{{1 << 10, 4}, {1 << 12, 2}, {1 << 20, 2}, {1 << 22, 8}}
	for bytes, want := range map[float64]float64{0: 4, 1: 4, 1 << 10: 4, 1 << 11: 3, 1 << 12: 2, 1 << 16: 2, 1 << 21: 5,
		1 << 22: 8, 1 << 40: 8} {
		if got := r.At(bytes); math.Abs(got-want) > 1e-12 {
			t.Errorf("at %v: %v, want %v", bytes, got, want)
		}
	}
	if got := Rate(nil).At(7); got != 0 {
		t.Errorf("no points: %v", got)
	}
}

func TestMachineJSON(t *testing.T) {
	m := everything()
	m.Near.Take = Rate{{1024, 1e-10}, {4096, 3e-10}}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var again Machine
	if err := Decode(strings.NewReader(string(text)), &again); err != nil || !reflect.DeepEqual(m, again) {
		t.Errorf("%s\nis %+v, %v, want %+v", text, again, err, m)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                             "EOF",
		`{`:                            "unexpected EOF",
		`{"near":{"alfa":1}}`:          "unknown field",
		`{}`:                           "segment is 0",
		`{"segment":1} 2`:              "more text after",
		`{"segment":1,"cores":-1}`:     "cores is -1",
		`{"segment":1e18}`:             "segment",
		`{"segment":1,"switch":-1e-9}`: "switch: -1e-09 seconds",
		`{"segment":1,"copy":"x"}`:     "want seconds per byte",
		`{"segment":1,"copy":-1}`:      "copy: -1 seconds",
		`{"segment":1,"copy":[{"bytes":2},{"bytes":2}]}`: "copy: point 1 is for 2 bytes",
	} {
		var m Machine
		if err := Decode(strings.NewReader(text), &m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// FuzzDecode plays on every machine that is taken for one: it ends, with a time or an error.
func FuzzDecode(f *testing.F) {
	text, err := json.Marshal(everything())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`{"segment":1,"near":{"put":[{"bytes":1,"price":1e6}],"alpha":1e6}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var m Machine
		if Decode(strings.NewReader(text), &m) != nil {
			return
		}
		r, err := Play(t.Context(), &m, Call{Algorithm: &catalogue.AllReduceRing, Params: gen.Params{Size: 7, Depth: 1},
			Block: 1 << 20})
		if err == nil && (r.Time < 0 || r.Time >= horizon || r.Parts.Total() != r.Time || r.Busiest.Busy > r.Time) {
			t.Errorf("%+v", r)
		}
	})
}
