package figures

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes. It is a flag.Value; its text is such as 8, 64K, 1M or 2G.
type Size int

// units are the suffixes of a size, for powers of 1024.
const units = "KMGT"

// Set parses text.
func (s *Size) Set(text string) error {
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
	*s = Size(n * scale)
	return nil
}

// String returns s in the largest unit that leaves no remainder.
func (s Size) String() string {
	n, unit := int(s), ""
	for i := 0; i < len(units) && n != 0 && n%1024 == 0; i++ {
		n, unit = n/1024, units[i:i+1]
	}
	return strconv.Itoa(n) + unit
}

// SizeText returns the text of a size.
func SizeText(bytes int) string { return Size(bytes).String() }
