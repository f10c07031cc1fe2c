package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/collgen/collgen/internal/drawing"
)

// The geometry of a picture, in pixels.
const (
	plotLeft, plotRight = 330, 880
	plotTop             = 96
	lineStep, rowGap    = 6, 12
	smallText, bigText  = 11, 15
)

// ramp has a color for each size, the darker the larger.
var ramp = []color.RGBA{drawing.RGB(0x86b6e6), drawing.RGB(0x5f9fda), drawing.RGB(0x3d87c9), drawing.RGB(0x256db0),
	drawing.RGB(0x155592), drawing.RGB(0x0b3e72), drawing.RGB(0x042850), drawing.RGB(0x000000)}

// drawRecorded writes a picture of the table in a Markdown file.
func drawRecorded(table, picture string) error {
	r, err := readRecorded(table)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := r.picture().SVG(&b); err != nil {
		return err
	}
	return os.WriteFile(picture, b.Bytes(), 0o644)
}

// picture has a dot for each ratio, on an axis where equal factors have equal lengths, and a line over its spread.
func (r *recorded) picture() *drawing.Drawing {
	p := &plot{Drawing: drawing.Drawing{Width: plotRight + 20, Paper: drawing.Paper,
		Alt: "How long other libraries take, divided by how long collgen takes"}}
	p.least, p.most, p.sizes = .5, 2, r.sizes()
	for _, x := range r.ratios {
		p.least, p.most = min(p.least, x.least, x.median), max(p.most, x.most, x.median)
	}
	p.heading(r.where)
	y := float64(plotTop)
	for start := 0; start < len(r.ratios); {
		n := slices.IndexFunc(r.ratios[start:], func(x ratio) bool { return x.row != r.ratios[start].row })
		if n < 0 {
			n = len(r.ratios) - start
		}
		y = p.row(y, r.ratios[start:start+n])
		start += n
	}
	p.axis(y)
	p.Height = int(y) + 30
	return &p.Drawing
}

// plot is a picture in the making.
type plot struct {
	drawing.Drawing
	least, most float64 // the ends of the axis
	sizes       []string
}

// at returns where a ratio is on the axis.
func (p *plot) at(ratio float64) float64 {
	return plotLeft + (plotRight-plotLeft)*math.Log(ratio/p.least)/math.Log(p.most/p.least)
}

func (p *plot) text(x, y float64, s string) *drawing.Text {
	p.Texts = append(p.Texts, drawing.Text{Point: drawing.Point{X: x, Y: y}, Anchor: drawing.Start, Size: smallText,
		Color: drawing.Ink, Text: s})
	return &p.Texts[len(p.Texts)-1]
}

// color returns that of a size; what has none has that of the first.
func (p *plot) color(size string) color.RGBA {
	return ramp[min(max(0, slices.Index(p.sizes, size)), len(ramp)-1)]
}

// heading writes what the picture shows, and the colors of the sizes.
func (p *plot) heading(where string) {
	title := p.text(16, 26, "The other library's time divided by ours")
	title.Size, title.Bold = bigText, true
	p.text(16, 46, where+". Dots are medians, lines reach from the least to the most.").Color = drawing.Faint
	const step = 58
	p.text(16, 68, "bytes")
	for i, size := range p.sizes {
		x := float64(64 + i*step)
		p.Dots = append(p.Dots, drawing.Dot{Point: drawing.Point{X: x, Y: 64}, Radius: 3.5, Color: p.color(size)})
		p.text(x+8, 68, size)
	}
}

// row draws the ratios of a row of the table, one below the other, and returns where the next row begins.
func (p *plot) row(top float64, ratios []ratio) (bottom float64) {
	height := math.Max(smallText, float64(len(ratios)*lineStep))
	p.text(plotLeft-12, top+height/2+4, ratios[0].row).Anchor = drawing.End
	for i, x := range ratios {
		ink := p.color(x.size)
		y := top + height/2 + (float64(i)-float64(len(ratios)-1)/2)*lineStep
		p.Lines = append(p.Lines, drawing.Line{Points: []drawing.Point{{X: p.at(x.least), Y: y}, {X: p.at(x.most), Y: y}},
			Color: ink, Width: 1})
		p.Dots = append(p.Dots, drawing.Dot{Point: drawing.Point{X: p.at(x.median), Y: y}, Radius: 3.2, Color: ink,
			Says: fmt.Sprintf("%s, %s: %s (%s to %s)", x.row, x.size, number(x.median), number(x.least), number(x.most))})
	}
	return top + height + rowGap
}

// axis draws a line for each of some ratios behind everything else, and their numbers.
func (p *plot) axis(bottom float64) {
	var lines []drawing.Line
	for _, v := range []float64{.1, .2, .5, 1, 2, 5, 10, 20, 50} {
		if v < p.least || v > p.most {
			continue
		}
		line := drawing.Line{Points: []drawing.Point{{X: p.at(v), Y: plotTop - 8}, {X: p.at(v), Y: bottom}},
			Color: drawing.Grid, Width: 1}
		if v == 1 {
			line.Color, line.Width = drawing.Ink, 1.5
		}
		lines = append(lines, line)
		p.text(p.at(v), bottom+16, strconv.FormatFloat(v, 'f', -1, 64)).Anchor = drawing.Middle
	}
	p.Lines = append(lines, p.Lines...)
	p.text(p.at(1)-8, plotTop-12, "the other one is faster").Anchor = drawing.End
	p.text(p.at(1)+8, plotTop-12, "ours is faster")
}
