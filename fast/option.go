package fast

// Option changes how one call is carried out. All ranks have to pass the same options.
type Option struct {
	algorithm string
	depth     int
}

// WithAlgorithm carries a call out by the algorithm of that name instead of the one that the selection table gives.
func WithAlgorithm(name string) Option { return Option{algorithm: name} }

// WithDepth cuts the chunks of a pipelined algorithm into n pieces, n >= 1.
func WithDepth(n int) Option { return Option{depth: n} }
