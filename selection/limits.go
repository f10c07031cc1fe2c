package selection

// The largest numbers of ranks and of pieces for which a proof by induction lets a call run: with these, everything
// that an algorithm works out fits an int of 64 bits.
const (
	MaxRanks = 1 << 20
	MaxDepth = 1 << 30
)
