package catalogue

import (
	"math/bits"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/cost"
)

// TestCirculantBroadcast: whatever the number of ranks, all pieces are everywhere after the fewest steps in which one
// rank can send them to all others, and each piece comes to each rank once.
func TestCirculantBroadcast(t *testing.T) {
	for _, a := range BroadcastCirculant.Members() {
		for size := 2; size <= 64; size++ {
			s, err := gen.Instantiate(&a, gen.Params{Size: size, Root: size / 3, Depth: 1})
			if err != nil {
				t.Fatal(err)
			}
			m, err := cost.Measure(s)
			if err != nil {
				t.Fatal(err)
			}
			if fewest := s.Chunks - 1 + bits.Len(uint(size-1)); m.Alpha != fewest || m.Beta != fewest {
				t.Errorf("%s of %d ranks takes the time of %d messages and %d pieces, want %d", a.Name, size, m.Alpha, m.Beta,
					fewest)
			}
			for rank, program := range s.Ranks {
				come, want := piecesCome(program, s.Chunks), 1
				if rank == s.Root {
					want = 0
				}
				for piece, times := range come {
					if times != want {
						t.Errorf("%s of %d ranks: piece %d comes to rank %d %d times", a.Name, size, piece, rank, times)
					}
				}
			}
		}
	}
}

// piecesCome returns how often each piece is received.
func piecesCome(p gen.Program, pieces int) []int {
	come := make([]int, pieces)
	for i := range p.Instrs {
		if in := &p.Instrs[i]; in.Kind == gen.RecvInstr {
			come[in.Dst.At]++
		}
	}
	return come
}
