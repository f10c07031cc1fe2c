package main

// plan says how many mutants of schedules and algorithms are tried.
type plan struct{ schedules, algorithms bounds }

// short is a sample that takes seconds, long is everything, in minutes.
var (
	short = plan{schedules: bounds{2, 4, 2, []int{2}, 7}, algorithms: bounds{from: 1, to: 9, depths: []int{1, 2, 3}, every: 7}}
	long  = plan{schedules: bounds{2, 6, 6, []int{1, 2}, 1}, algorithms: bounds{from: 1, to: 17, depths: []int{1, 2, 3}, every: 1}}
)
