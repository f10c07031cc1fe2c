// Command neighbours is a program with a collective of its own: exchange.go says what it promises and how it is done,
// zneighbours.go is generated from that, and here it is used. Four ranks let heat flow around a ring of cells.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/collgen/collgen/fast"
)

const (
	ranks = 4
	cells = 6 // of a rank
	steps = 40
)

func main() {
	lines := make([]string, ranks)
	err := fast.Run(context.Background(), ranks, func(ctx context.Context, c *fast.Comm) error {
		heat, err := flow(ctx, c)
		lines[c.Rank()] = show(heat)
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for rank, line := range lines {
		fmt.Printf("rank %d: %s\n", rank, line)
	}
}

// flow starts with all heat in one cell of rank 0. In every step, a cell goes half the way to the mean of its two
// neighbours.
func flow(ctx context.Context, c *fast.Comm) ([]float64, error) {
	heat := make([]float64, cells+2) // with a cell of each neighbour at the ends
	if c.Rank() == 0 {
		heat[cells/2] = 1
	}
	edges := make([]float64, 4) // the first and last cell of the rank before, and of the rank after
	for range steps {
		if err := Neighbours(ctx, c, edges, []float64{heat[1], heat[cells]}); err != nil {
			return nil, err
		}
		heat[0], heat[cells+1] = edges[1], edges[2]
		heat = step(heat)
	}
	return heat[1 : cells+1], nil
}

func step(heat []float64) []float64 {
	next := make([]float64, len(heat))
	for i := 1; i <= cells; i++ {
		next[i] = heat[i]/2 + (heat[i-1]+heat[i+1])/4
	}
	return next
}

// show draws one bar for each cell.
func show(heat []float64) string {
	bars := []rune(" ▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, h := range heat {
		b.WriteRune(bars[min(int(h*64), len(bars)-1)])
	}
	return b.String()
}
