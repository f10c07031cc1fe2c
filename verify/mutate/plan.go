package main

// plan says which mutants of schedules and algorithms are tried, and about how many of them other stages are asked.
type plan struct {
	schedules, algorithms bounds
	asked                 asking
}

// short is a sample that takes seconds; long is all mutants, and takes minutes.
var (
	short = plan{bounds{2, 4, 2, []int{2}, 7}, bounds{from: 1, to: 9, depths: []int{1, 2, 3}, every: 7},
		asking{code: 100, every: 3}}
	long = plan{bounds{2, 6, 6, []int{1, 2}, 1}, bounds{from: 1, to: 17, depths: []int{1, 2, 3}, every: 1},
		asking{code: 100, every: 20}}
)
