package spec

// Barrier holds every rank until all have come.
var Barrier = register(Primitive{
	Name: "Barrier",
	Doc:  "Barrier returns on a rank only after every rank has called it. It moves no data.",
	Post: []Clause{{Value: Value{Kind: Entered}}},
})
