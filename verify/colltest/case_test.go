package colltest

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/spec"
)

// TestCaseJSON: a case is read as it was written.
func TestCaseJSON(t *testing.T) {
	can, random := All("all", 1, 2, 3, 4, 5), rand.New(rand.NewPCG(1, 2))
	for _, of := range can.Primitives {
		for range 50 {
			c := drawCase(random, &can, []Support{of}, 2+random.IntN(4))
			var back Case
			if err := json.Unmarshal([]byte(c.JSON()), &back); err != nil || !reflect.DeepEqual(c, back) {
				t.Fatalf("%+v is read as %+v, %v", c, back, err)
			}
		}
	}
}

// TestWrongCases: what is no call of the primitive is an error, not a failure and not a panic.
func TestWrongCases(t *testing.T) {
	s := NewSuite(nothing{})
	for text, says := range map[string]string{
		`{"Size":2}`: "without calls",
		`{"Size":0,"Steps":[{"Primitive":"Barrier","Type":"int8"}]}`:                                        "0 ranks",
		`{"Size":2000,"Steps":[{"Primitive":"Barrier","Type":"int8"}]}`:                                     "2000 ranks",
		`{"Size":2,"Steps":[{"Primitive":"Shuffle","Type":"int8"}]}`:                                        "does not have Shuffle",
		`{"Size":2,"Steps":[{"Primitive":"Broadcast","Type":"int8","Root":2}]}`:                             "root is not a rank",
		`{"Size":2,"Steps":[{"Primitive":"Broadcast","Type":"int8","Count":-1}]}`:                           "-1 elements",
		`{"Size":2,"Steps":[{"Primitive":"Broadcast"}]}`:                                                    "no such",
		`{"Size":2,"Steps":[{"Primitive":"AllReduce","Type":"float32","Op":"band"}]}`:                       "no such reduction",
		`{"Size":2,"Steps":[{"Primitive":"AllReduce","Type":"int8","Op":"sum","Counts":[[1],[2]]}]}`:        "combines blocks",
		`{"Size":2,"Steps":[{"Primitive":"AllToAll","Type":"int8","Counts":[[1,2],[3]]}]}`:                  "1 counts for 2 blocks",
		`{"Size":2,"Steps":[{"Primitive":"AllToAll","Type":"int8","Counts":[[1,2]]}]}`:                      "counts of 1 ranks",
		`{"Size":2,"Steps":[{"Primitive":"AllToAll","Type":"int8","InPlace":true,"Counts":[[1,2],[3,4]]}]}`: "in place",
		`{"Size":2,"Steps":[{"Primitive":"Send","Type":"int8","Peer":1,"InPlace":true}]}`:                   "no form in place",
		`{"Size":1,"Steps":[{"Primitive":"Barrier","Type":"int8"},{"Primitive":"Send","Type":"int8"}]}`:     "send to itself",
		`{"Size":1,"Steps":[{"Primitive":"Barrier","Type":"int8","Repeat":1000000}]}`:                       "1000000 times",
		`{"Size":1,"Steps":[{"Primitive":"Barrier","Type":"int8","Guard":-1}]}`:                             "-1 guard",
	} {
		var c Case
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		if f, err := s.Try(t.Context(), c); err == nil || f != nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v; want an error with %q", text, f, err, says)
		}
	}
}

// nothing says that it has everything.
type nothing struct{ Implementation }

func (nothing) Capabilities() Capabilities { return All("nothing", 1, 2) }

// TestUneven: which primitives have blocks that can differ.
func TestUneven(t *testing.T) {
	want := map[string]bool{"AllGather": true, "AllToAll": true, "Gather": true, "Scatter": true, "ReduceScatter": true}
	for name := range maps.Clone(want) {
		want[name+"V"] = true
	}
	want["NeighborAllToAll"], want["NeighborAllGather"] = true, true
	for _, p := range Primitives() {
		if got := hasUneven(p); got != want[p.Name] {
			t.Errorf("%s: %v", p.Name, got)
		}
	}
}

// TestStepString: of a call is said what it has, and nothing of what it has not.
func TestStepString(t *testing.T) {
	for want, s := range map[string]Step{
		"Barrier": {Primitive: "Barrier", Type: spec.TypeInt8},
		"Scatter of int8, blocks of 3 elements, root 1, in place": {Primitive: "Scatter", Type: spec.TypeInt8, Count: 3,
			Root: 1, InPlace: true},
		"Send of int8, blocks of [[1] [1]] elements, root 0, peer 1": {Primitive: "Send", Type: spec.TypeInt8,
			Counts: [][]int{{1}, {1}}, Peer: 1},
		"AllReduce of int8, blocks of 0 elements, op sum, off alignment by 1 elements, rank 2 comes 1ms late": {
			Primitive: "AllReduce", Type: spec.TypeInt8, Op: spec.OpSum, Lead: 1, Late: 2, Delay: time.Millisecond},
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestLonger: a failure of counts that differ names the rank that has more, which is one of the communicator's members.
func TestLonger(t *testing.T) {
	f := Failure{Tries: 1, Failed: 1, Case: Case{Size: 3,
		Comms: []Split{{Colors: []int{-1, 0, 0}, Keys: []int{0, 0, 0}}},
		Steps: []Step{{Primitive: "Reduce", Type: spec.TypeInt8, Op: spec.OpSum, Count: 1, Comm: 1,
			Wrong: WrongCounts, Values: Values{Seed: 5}}}},
		Problems: []Problem{{Kind: Accepted, Rank: -1, Text: "accepted"}}}
	if text := f.String(); !strings.Contains(text, "    rank 2 has one element more in each block\n") {
		t.Error(text)
	}
}
