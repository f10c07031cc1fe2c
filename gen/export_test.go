package gen

// What the tests see of the inside.
var (
	SimplifyInside = simplify
	HaveVariable   = haveVariable
)
