package main

import (
	"math"
	"math/rand/v2"
)

// matrix is numbers, row by row.
type matrix struct {
	rows, columns int
	v             []float64
}

func newMatrix(rows, columns int) matrix { return matrix{rows, columns, make([]float64, rows*columns)} }

// random returns a matrix that is determined by its seed.
func random(rows, columns int, seed uint64) matrix {
	m, r := newMatrix(rows, columns), rand.New(rand.NewPCG(seed, 0))
	for i := range m.v {
		m.v[i] = r.NormFloat64() / math.Sqrt(float64(rows))
	}
	return m
}

func (m matrix) row(i int) []float64 { return m.v[i*m.columns:][:m.columns] }

func (m matrix) rowsOf(lo, hi int) matrix {
	return matrix{hi - lo, m.columns, m.v[lo*m.columns : hi*m.columns]}
}

func (m matrix) columnsOf(lo, hi int) matrix {
	part := newMatrix(m.rows, hi-lo)
	for i := range m.rows {
		copy(part.row(i), m.row(i)[lo:hi])
	}
	return part
}

func (m matrix) setColumns(lo int, part matrix) {
	for i := range m.rows {
		copy(m.row(i)[lo:], part.row(i))
	}
}

func (m matrix) transposed() matrix {
	t := newMatrix(m.columns, m.rows)
	for i := range m.rows {
		for j, x := range m.row(i) {
			t.row(j)[i] = x
		}
	}
	return t
}

func (m matrix) times(n matrix) matrix {
	product := newMatrix(m.rows, n.columns)
	for i := range m.rows {
		for k, x := range m.row(i) {
			for j, y := range n.row(k) {
				product.row(i)[j] += x * y
			}
		}
	}
	return product
}

func (m matrix) plus(n matrix) matrix {
	sum := newMatrix(m.rows, m.columns)
	for i := range m.v {
		sum.v[i] = m.v[i] + n.v[i]
	}
	return sum
}

// softmax makes each row, times scale, probabilities.
func (m matrix) softmax(scale float64) {
	for i := range m.rows {
		sum := 0.0
		for j, x := range m.row(i) {
			m.row(i)[j] = math.Exp(scale * x)
			sum += m.row(i)[j]
		}
		for j := range m.row(i) {
			m.row(i)[j] /= sum
		}
	}
}

// normalized returns m with rows of mean 0 and variance 1.
func (m matrix) normalized() matrix {
	n := newMatrix(m.rows, m.columns)
	for i := range m.rows {
		mean, square := 0.0, 0.0
		for _, x := range m.row(i) {
			mean += x / float64(m.columns)
		}
		for _, x := range m.row(i) {
			square += (x - mean) * (x - mean) / float64(m.columns)
		}
		for j, x := range m.row(i) {
			n.row(i)[j] = (x - mean) / math.Sqrt(square+1e-5)
		}
	}
	return n
}
