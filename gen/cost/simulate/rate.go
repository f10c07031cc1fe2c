package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Rate is what a byte costs a core, which depends on the caches that the data of a call fit: on how many bytes of
// buffers the ranks of one core pass to it. Between two points it is interpolated over the logarithm of the bytes,
// beyond the first and the last it is theirs. No points: nothing. In JSON, a single number is a constant rate.
type Rate []Point

// Point is the price of a byte, in seconds, in calls that touch so many bytes on each core.
type Point struct {
	Bytes int     `json:"bytes"`
	Price float64 `json:"price"`
}

// Constant returns a rate that is the same for all sizes.
func Constant(price float64) Rate {
	if price == 0 {
		return nil
	}
	return Rate{{1, price}}
}

// At returns the price for calls that touch bytes on each core.
func (r Rate) At(bytes float64) float64 {
	i := 0
	for i < len(r) && float64(r[i].Bytes) <= bytes {
		i++
	}
	switch {
	case len(r) == 0:
		return 0
	case i == 0:
		return r[0].Price
	case i == len(r):
		return r[i-1].Price
	}
	lo, hi := r[i-1], r[i]
	share := math.Log(bytes/float64(lo.Bytes)) / math.Log(float64(hi.Bytes)/float64(lo.Bytes))
	return lo.Price + share*(hi.Price-lo.Price)
}

func (r Rate) validate() error {
	for i, p := range r {
		if p.Bytes < 1 || i > 0 && p.Bytes <= r[i-1].Bytes {
			return fmt.Errorf("point %d is for %d bytes: want at least 1, and more than in the point before", i, p.Bytes)
		}
		if err := validPrice(p.Price); err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON writes a number where one is enough.
func (r Rate) MarshalJSON() ([]byte, error) {
	switch {
	case len(r) == 0:
		return []byte("0"), nil
	case len(r) == 1:
		return json.Marshal(r[0].Price)
	}
	return json.Marshal([]Point(r))
}

// UnmarshalJSON reads a number, or points.
func (r *Rate) UnmarshalJSON(text []byte) error {
	var number float64
	if json.Unmarshal(text, &number) == nil {
		*r = Constant(number)
		return nil
	}
	var points []Point
	if err := json.Unmarshal(text, &points); err != nil {
		return errors.New("want seconds per byte, or points with bytes and price")
	}
	*r = points
	return nil
}

func validPrice(p float64) error {
	if math.IsNaN(p) || p < 0 || p > maxSeconds {
		return fmt.Errorf("%v seconds, want 0 to %v", p, maxSeconds)
	}
	return nil
}

// The most that a machine's numbers may be: with more, a mistake is likelier than such a machine.
const (
	maxCount   = 1 << 30
	maxSeconds = 1e6
)
