package main

// reasons says for mutants of source code why they are no mistakes: nothing that a user can rely on changes.
var reasons = map[string]string{
	"spec/expr.go, evalCond: `1` for `0`, no. 3": "the value beside an error",
	"spec/expr.go, lookup: `1` for `0`, no. 2": "the value of a name " +
		"that there is not",
	"spec/op.go, Ops: `2` for `1`": "room for an operator " +
		"that there is not",
	"spec/expr.go, eval: `1` for `0`": "the value beside an error",
	"spec/validate.go, calls: `6` for `5`": "Validate tries calls " +
		"of more sizes",
	"gen/simplify.go, isTruth: `&&` for `||`, no. 2": "a constant is never " +
		"asked about: it was folded before",
	"gen/builder.go, deliver: `!(cap(b.instrs) > largeStep)` for `cap(b.instrs) > largeStep`": "which memory " +
		"is used again",
	"gen/builder.go, : `65` for `64`": "which memory " +
		"is used again",
	"gen/schedule.go, Steps: `2` for `1`": "room for a program that " +
		"nobody looks at",
	"gen/cost/time.go, newTasks: `2` for `1`": "room for a number that " +
		"nobody looks at",
	"verify/intern.go, reset: `+` for `*`": "the table is " +
		"smaller, and grows",
	"verify/intern.go, reset: `+` for `-`": "the table is larger",
	"verify/events.go, inPrefix: `-` for `+`": "what it knows at once " +
		"is found by a search instead",
	"verify/intern.go, grow: `3` for `2`": "the table gets larger, " +
		"and numbers stay the same",
	"verify/intern.go, add: `+` for `*`": "the table gets larger " +
		"later, and numbers stay the same",
	"verify/tree.go, owner: `2` for `1`": "the length of a place " +
		"of which only the index is looked at",
	"verify/entered.go, asksWhoEntered: `true` for `false`": "who has met whom is " +
		"worked out, and nobody asks",
	"fast/hosts/blocks.go, AllGatherInto: `1` for `0`, no. 2": "all ranks compare an op that there is not",
	"fast/hosts/blocks.go, allGather: `1` for `0`, no. 2":     "which memory is used again",
	"fast/neighbor/grid.go, NewGrid: `<` for `!=`, no. 2": "more points than ranks " +
		"were refused before",
}

// missing says for surviving mistakes why nothing found them.
var missing = map[string]string{
	"gen/catalogue/rules.go, : `2` for `1`": "a limit of a selection table: check-generate " +
		"has to show it, not tried again",
	"gen/nodeerror.go, Error: `>` for `>=`": "no test reads which action is named where " +
		"that is the first",
	"verify/lend.go, borrow: `+` for `-`": "no test reads a place of which only the " +
		"end is lent",
	"verify/shape.go, work: `2` for `1`, no. 2": "how much work is too much: no schedule is " +
		"that close to it",
	"verify/race.go, placeOf: `||` for `&&`": "no test looks at the place that a race is " +
		"about where the later instruction reads it",
	"verify/events.go, showCycle: `{}` for `continue`": "no test reads all lines of a deadlock",
	"fast/internal/tcp/input.go, open: `!(opened)` for `opened`, no. 4": "no test asks whether records came before the " +
		"one that was tampered with: the connection ends",
}

// isSame reports whether there is a reason why a mutant is no mistake.
func isSame(mutant string) bool {
	_, ok := reasons[mutant]
	return ok
}
