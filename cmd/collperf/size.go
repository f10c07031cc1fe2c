package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// size is a number of bytes, as a flag: 8, 64K, 1M, 2G.
type size int

// units are the powers of 1024 that a size may end with.
const units = "KMGT"

func (s *size) Set(text string) error {
	digits, scale := strings.ToUpper(text), int64(1)
	if n := len(digits); n > 0 {
		if power := strings.IndexByte(units, digits[n-1]); power >= 0 {
			digits, scale = digits[:n-1], 1<<(10*(power+1))
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt/scale {
		return fmt.Errorf("want a number of bytes, such as 8, 64K, 1M or 2G")
	}
	*s = size(n * scale)
	return nil
}

// String has the largest unit that leaves no remainder.
func (s size) String() string {
	n, unit := int(s), ""
	for i := 0; i < len(units) && n != 0 && n%1024 == 0; i++ {
		n, unit = n/1024, units[i:i+1]
	}
	return strconv.Itoa(n) + unit
}

// steps returns the sizes from first to last, each factor times the one before.
func steps(first, last size, factor int) (sizes []int) {
	for s := int(first); s <= int(last); s *= factor {
		sizes = append(sizes, s)
		if s == 0 || s > math.MaxInt/factor {
			break
		}
	}
	return sizes
}
