package picture

import (
	"fmt"
	"math"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/view"
)

// perRow is how many chunks of a rank stand side by side.
const perRow = 8

// arrange gives ranks their rows of chunks and their places.
func (p *drawing) arrange() {
	p.cell = 26
	if p.d.Size > 4 {
		p.cell = 20
	}
	if p.d.Size > 8 {
		p.cell = 13
	}
	widest, tallest := 1, 1
	for rank := range p.d.Size {
		row := p.row(rank)
		p.rows = append(p.rows, row)
		widest, tallest = max(widest, min(len(row), perRow)), max(tallest, (len(row)+perRow-1)/perRow)
	}
	p.w = math.Max(62, float64(widest)*p.cell+10)
	p.h = 26 + float64(tallest)*p.cell
	p.put()
	const margin = 26
	left, top, right, bottom := p.at[0].x, p.at[0].y, p.at[0].x, p.at[0].y
	for _, c := range p.at {
		left, top, right, bottom = min(left, c.x), min(top, c.y), max(right, c.x), max(bottom, c.y)
	}
	for i := range p.at {
		p.at[i].x += p.w/2 + margin - left
		p.at[i].y += p.h/2 + margin + 16 - top
	}
	p.width, p.height = right-left+p.w+2*margin, bottom-top+p.h+2*margin+16
}

// row returns the chunks of a rank: where In and Out are one place in place, what is in Out or else in In; scratch is
// left out.
func (p *drawing) row(rank int) (row []place) {
	held := p.d.Held[rank]
	for i := 0; i < len(held); i += 2 {
		row = append(row, place{held[i], held[i+1]})
	}
	if row != nil {
		return row
	}
	for _, b := range p.d.Buffers {
		if b.Name == spec.Scratch || len(b.Base) == 0 {
			continue
		}
		for i := range b.Len[rank] {
			row = append(row, place{b.Base[rank] + i, -1})
		}
	}
	return row
}

// put places ranks around the origin, by the layout of the data.
func (p *drawing) put() {
	gapX, gapY := p.w+74, p.h+52
	p.at = make([]point, p.d.Size)
	switch p.d.Layout.Kind {
	case view.Tree:
		next := 0.0
		for rank, parent := range p.d.Layout.Parent {
			if parent < 0 {
				p.tree(rank, 0, &next, gapX, gapY)
			}
		}
	case view.Line:
		for rank := range p.at {
			p.at[rank] = point{gapX * float64(rank%5), gapY * float64(rank/5)}
		}
	case view.Torus, view.Hosts:
		for rank := range p.at {
			p.at[rank] = point{gapX * float64(rank%p.d.Layout.Width), gapY * float64(rank/p.d.Layout.Width)}
		}
	default:
		p.circle(gapX, gapY)
	}
}

func (p *drawing) circle(gapX, gapY float64) {
	n := float64(p.d.Size)
	rx, ry, turn := math.Max(gapX*0.75, gapX*n/6.6), math.Max(gapY*1.05, gapY*n/6.3), -0.5
	if p.d.Size == 4 { // the corners of a square
		turn, ry = -0.75, gapY*0.95
	}
	for rank := range p.at {
		angle := (2*float64(rank)/n + turn) * math.Pi
		p.at[rank] = point{rx * math.Cos(angle), ry * math.Sin(angle)}
	}
}

// tree places a rank above the middle of its children, and leaves side by side.
func (p *drawing) tree(rank, depth int, next *float64, gapX, gapY float64) {
	low, high, children := math.Inf(1), math.Inf(-1), 0
	for child, parent := range p.d.Layout.Parent {
		if parent == rank {
			p.tree(child, depth+1, next, gapX, gapY)
			low, high, children = math.Min(low, p.at[child].x), math.Max(high, p.at[child].x), children+1
		}
	}
	if p.at[rank] = (point{gapX * *next, gapY * float64(depth)}); children > 0 {
		p.at[rank].x = (low + high) / 2
	} else {
		*next++
	}
}

// links draws lines between ranks that exchange messages.
func (p *drawing) links() {
	known := map[[2]int]bool{}
	for round := range p.d.Rounds {
		for _, m := range p.d.Sends(round) {
			e := [2]int{min(m.From, m.To), max(m.From, m.To)}
			if known[e] {
				continue
			}
			known[e] = true
			fmt.Fprintf(&p.out, `<path d="M%sL%s" stroke="#d5d9de" fill="none"/>`+"\n", p.at[e[0]], p.at[e[1]])
		}
	}
}

// String returns the point as paths have it.
func (p point) String() string {
	return number(math.Round(p.x*10)/10) + " " + number(math.Round(p.y*10)/10)
}

// curve is a quadratic curve.
type curve struct{ p, c, q point }

// curve returns the way from one rank to another, which bends to the right, from box to box.
func (p *drawing) curve(from, to int) curve {
	a, b := p.at[from], p.at[to]
	dx, dy := b.x-a.x, b.y-a.y
	length := math.Max(1, math.Hypot(dx, dy))
	bend := math.Min(26, length/7)
	c := point{(a.x+b.x)/2 - dy/length*bend, (a.y+b.y)/2 + dx/length*bend}
	return curve{p.edge(a, c), c, p.edge(b, c)}
}

// edge returns where the line from the centre of a box to another point leaves the box.
func (p *drawing) edge(a, to point) point {
	dx, dy := to.x-a.x, to.y-a.y
	k := math.Min(1, math.Min((p.w/2+4)/math.Max(1e-9, math.Abs(dx)), (p.h/2+4)/math.Max(1e-9, math.Abs(dy))))
	return point{a.x + dx*k, a.y + dy*k}
}

func (c curve) at(t float64) point {
	u := 1 - t
	return point{u*u*c.p.x + 2*u*t*c.c.x + t*t*c.q.x, u*u*c.p.y + 2*u*t*c.c.y + t*t*c.q.y}
}
