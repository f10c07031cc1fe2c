package picture

import "fmt"

// The colours of ranks, by Okabe and Ito, as on the page; and whether text on them is dark.
var colours = []struct {
	fill string
	dark bool
}{{"#0072B2", false}, {"#E69F00", true}, {"#009E73", true}, {"#CC79A7", true}, {"#56B4E9", true}, {"#F0E442", true},
	{"#7F5A3C", false}, {"#8E8E93", true}}

// chunk draws what a node is: a stripe for each rank whose data is in it; where nothing is reduced, all of it in the
// colour of the one rank.
func (p *drawing) chunk(node int, size float64) {
	frame, width := "#b6bcc4", "1"
	if p.d.IsFinished(node) {
		frame, width = "#1c1e21", "1.8"
	}
	ranks := p.d.Ranks(node)
	each := (size - 2) / float64(p.d.Size)
	fmt.Fprintf(&p.out, `<rect width="%s" height="%[1]s" rx="2" fill="#fff" stroke="%s" stroke-width="%s"/>`, number(size), frame,
		width)
	if !p.d.Folds && len(ranks) == 1 {
		p.stripe(ranks[0], 1, size-2, size)
		return
	}
	for _, rank := range ranks {
		p.stripe(rank, 1+float64(rank)*each, each, size)
	}
}

// stripe draws the stripe of a rank, with its number where there is room.
func (p *drawing) stripe(rank int, x, width, size float64) {
	c := colours[rank%len(colours)]
	fmt.Fprintf(&p.out, `<rect x="%s" y="1" width="%s" height="%s" fill="%s"/>`, number(x), number(width), number(size-2),
		c.fill)
	if width < 5 || size < 12 {
		return
	}
	ink := "#fff"
	if c.dark {
		ink = "#000"
	}
	fmt.Fprintf(&p.out, `<text x="%s" y="%s" font-size="9" text-anchor="middle" fill="%s">%d</text>`, number(x+width/2),
		number(size/2+3), ink, rank)
}
