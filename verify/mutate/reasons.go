package main

// reasons say of mutants of source code that survive why they are no mistakes: nothing that anybody can rely on is different.
var reasons = map[string]string{
	"spec/expr.go, eval: `1` for `0`":                                                       "the value beside an error",
	"spec/validate.go, calls: `6` for `5`":                                                  "Validate tries calls of more sizes",
	"gen/steps.go, deliver: `!(cap(b.instrs) > largeStep)` for `cap(b.instrs) > largeStep`": "which memory is used again",
	"gen/steps.go, Steps: `2` for `1`":                                                      "room for a program that nobody looks at",
	"gen/time.go, newTasks: `2` for `1`":                                                    "room for a number that nobody looks at",
	"verify/intern.go, grow: `3` for `2`":                                                   "the table gets larger, and numbers stay the same",
	"verify/intern.go, add: `+` for `*`":                                                    "the table gets larger later, and numbers stay the same",
	"verify/tree.go, owner: `2` for `1`":                                                    "the length of a place of which only the index is looked at",
	"verify/entered.go, asksWhoEntered: `true` for `false`":                                 "who has met whom is worked out, and nobody asks",
}

// isSame tells whether a mutant is one of those.
func isSame(mutant string) bool {
	_, ok := reasons[mutant]
	return ok
}
