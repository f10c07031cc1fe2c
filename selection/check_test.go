package selection

import (
	"math"
	"strings"
	"testing"
)

var (
	anyone = Algorithm{Name: "any", Pipelined: true}
	few    = Algorithm{Name: "few", Serves: func(size, _ int) bool { return size <= 8 }}
	sums   = Algorithm{Name: "sums", Commutative: true}
	four   = Algorithm{Name: "four", Proved: func(size int) bool { return size <= 4 }}
	level  = Algorithm{Name: "level", Local: true, Serves: func(size, local int) bool { return size%local == 0 }}
	some   = []Algorithm{anyone, few, sums, four, level}
)

func TestCheckFindsFaults(t *testing.T) {
	everything := Rule{Algorithm: "any"}
	for _, tc := range []struct {
		name   string
		table  []Rule
		others bool
		want   string
	}{
		{"sound", []Rule{{Algorithm: "few", MaxSize: 8, MaxBytes: 9}, {Algorithm: "sums", MinSize: 9}, everything}, false,
			""},
		{"sound, by transport", []Rule{{Transport: "shm", Algorithm: "few", MaxSize: 8}, {Transport: "tcp", Algorithm: "any"},
			{Algorithm: "sums"}}, false, ""},
		{"a gap after the last size", []Rule{{Algorithm: "any", MaxSize: 5000}}, false, "no rule is for 5001 ranks"},
		{"a gap below the first size", []Rule{{Algorithm: "any", MinSize: 2}}, false, "no rule is for 1 ranks"},
		{"a gap between sizes", []Rule{{Algorithm: "any", MaxSize: 3}, {Algorithm: "any", MinSize: 5}}, false,
			"no rule is for 4 ranks"},
		{"a gap after the last byte", []Rule{{Algorithm: "any", MaxBytes: 70}}, false, "blocks of 71 bytes"},
		{"a gap in a corner", []Rule{{Algorithm: "any", MaxBytes: 70}, {Algorithm: "any", MaxSize: 9}}, false,
			"no rule is for 10 ranks over inproc, 10 on a host, blocks of 71 bytes"},
		{"a transport without rules", []Rule{{Transport: "shm", Algorithm: "any"}, {Transport: "inproc", Algorithm: "any"},
			{Transport: "mixed", Algorithm: "any"}}, false, "no rule is for 1 ranks over tcp"},
		{"a gap over one transport", []Rule{{Transport: "shm", Algorithm: "any", MaxBytes: 70},
			{Algorithm: "any", MaxSize: 3}}, false, "no rule is for 4 ranks over inproc"},
		{"a gap where ranks share a host", []Rule{{Algorithm: "any", MaxPerHost: 2}}, false,
			"no rule is for 3 ranks over inproc, 3 on a host"},
		{"a gap where ranks of some hosts share one", []Rule{{Transport: "shm", Algorithm: "any"},
			{Transport: "inproc", Algorithm: "any"},
			{Algorithm: "any", MaxPerHost: 2}}, false, "over tcp, 3 on a host"},
		{"sound, by ranks on a host", []Rule{{Algorithm: "few", MaxSize: 8, MaxPerHost: 1}, everything}, false, ""},
		{"a rule for one rank on each host of a transport within one",
			[]Rule{{Transport: "shm", Algorithm: "any", MinSize: 2, MaxPerHost: 1}, everything},
			false, "rule 1, any: other rules come before it"},
		{"no rules", nil, false, "no rule is for 1 ranks"},
		{"a gap for other ops", []Rule{{Algorithm: "sums"}}, true, "commutative op: false"},
		{"no gap where other ops have rules", []Rule{{Algorithm: "sums"}, everything}, true, ""},
		{"an unknown algorithm", []Rule{{Algorithm: "most"}, everything}, false, "rule 1, most: there is no such algorithm"},
		{"an unknown transport", []Rule{{Algorithm: "any", Transport: "pigeons"}, everything}, false,
			`rule 1, any: there is no transport "pigeons"`},
		{"a size that is not served", []Rule{{Algorithm: "few", MaxSize: 9}, everything}, false,
			"rule 1, few: it does not serve 9 ranks"},
		{"sizes that are not served", []Rule{{Algorithm: "few", MinSize: 3}, everything}, false, "it does not serve 9 ranks"},
		{"a negative limit", []Rule{{Algorithm: "any", MaxBytes: -1}}, false, "a limit is negative"},
		{"a negative number on a host", []Rule{{Algorithm: "any", MaxPerHost: -1}}, false, "a limit is negative"},
		{"no size", []Rule{{Algorithm: "any", MinSize: 3, MaxSize: 2}, everything}, false, "no size is in 3..2"},
		{"pieces without a depth", []Rule{{Algorithm: "sums", PieceBytes: 5}}, false, "no depth that PieceBytes could set"},
		{"a rule that is never used", []Rule{everything, {Algorithm: "few", MaxSize: 8}}, false,
			"rule 2, few: other rules come before it"},
		{"a rule twice", []Rule{{Algorithm: "few", MaxSize: 8}, {Algorithm: "few", MaxSize: 8}, everything}, false,
			"rule 2, few"},
		{"a rule that others for each transport hide", []Rule{{Transport: "shm", Algorithm: "any"},
			{Transport: "tcp", Algorithm: "any"},
			{Transport: "rdma", Algorithm: "any"}, {Transport: "mixed", Algorithm: "any"},
			{Transport: "inproc", Algorithm: "any"}, everything},
			false, "rule 6, any"},
		{"the largest limits", []Rule{{Algorithm: "any", MaxSize: math.MaxInt, MaxBytes: math.MaxInt}}, false, ""},
	} {
		err := Check(tc.table, some, tc.others)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
}
