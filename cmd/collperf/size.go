package main

import (
	"math"

	"github.com/collgen/collgen/internal/figures"
)

// steps returns the sizes from first to last, each factor times the one before.
func steps(first, last figures.Size, factor int) (sizes []int) {
	for s := int(first); s <= int(last); s *= factor {
		sizes = append(sizes, s)
		if s == 0 || s > math.MaxInt/factor {
			break
		}
	}
	return sizes
}
