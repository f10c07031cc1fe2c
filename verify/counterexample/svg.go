package counterexample

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/collgen/collgen/gen"
)

// A Picture says what is to be drawn of a counterexample.
type Picture struct {
	Schedule    *gen.Schedule
	Title       string
	Description string // for readers who cannot see the picture
	Facts       []Fact // below the title
	Focus       Instr  // the instruction that fails; if none does, one of the rank in question
	Wrong       []Instr
	Place       gen.Place // the place that holds something wrong; zero: none does
}

// Fact is a paragraph of text, with a label or without.
type Fact struct {
	Label, Text string
	Wrong       bool // it is in red
}

// SVG returns a space-time picture: a lane for each rank, its steps from left to right, the messages between them, and
// in red what is wrong. Large schedules are clipped to the part that matters.
func (p *Picture) SVG() string {
	d := &drawing{p: p, scene: newScene(p.Schedule, p.Focus, p.Wrong)}
	d.heading()
	d.strip()
	d.arrange()
	d.draw()
	return d.done()
}

// Lengths of a drawing, in pixels. Text is of one width, so that what it needs is known.
const (
	charWidth  = 7
	lineHeight = 17
	margin     = 20
	laneName   = 74 // left of the first column
	gap        = 76 // between columns, for arrows
	laneGap    = 22
	boxPad     = 7
	cellSize   = 26
	textColumn = 100 // characters in a line of the heading
)

// drawing is an SVG that is being made.
type drawing struct {
	p      *Picture
	scene  *scene
	out    strings.Builder
	y      int   // the bottom of what is drawn
	width  int   // of all
	left   []int // by column: where its boxes begin
	widths []int // by column
	lane   []int // by place in scene.ranks: its top
}

// texts writes one line of text.
func (d *drawing) texts(x, y int, look, s string) {
	fmt.Fprintf(&d.out, `<text x="%d" y="%d" %s>%s</text>`+"\n", x, y, look, escape(s))
	d.width = max(d.width, x+charWidth*utf8.RuneCountInString(s)+margin)
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

// heading writes the title and the facts.
func (d *drawing) heading() {
	d.y = margin + lineHeight
	d.texts(margin, d.y, titleText, d.p.Title)
	for _, f := range d.p.Facts {
		d.paragraph(f)
	}
}

// paragraph writes a fact: its text in lines, right of its label.
func (d *drawing) paragraph(f Fact) {
	for i, l := range wrap(f.Text, textColumn) {
		d.y += lineHeight
		if i == 0 && f.Label != "" {
			d.texts(margin, d.y, faintText, f.Label)
		}
		look := plainText
		if f.Wrong {
			look = wrongText
		}
		x := margin
		if f.Label != "" {
			x += 10 * charWidth
		}
		d.texts(x, d.y, look, l)
	}
}

// wrap cuts s into lines at spaces.
func wrap(s string, at int) []string {
	var lines []string
	line, n := "", 0
	for _, word := range strings.Fields(s) {
		length := utf8.RuneCountInString(word)
		if n > 0 && n+1+length > at {
			lines, line, n = append(lines, line), "", 0
		}
		if n > 0 {
			line, n = line+" ", n+1
		}
		line, n = line+word, n+length
	}
	if n > 0 {
		lines = append(lines, line)
	}
	return lines
}

// stripCells is how many chunks of a buffer are drawn.
const stripCells = 24

// strip draws the buffer that has the wrong place, chunk by chunk.
func (d *drawing) strip() {
	p, rank := d.p.Place, d.p.Focus.Rank
	if p.Buf == "" {
		return
	}
	n := d.p.Schedule.Ranks[rank].Len(p.Buf)
	from := max(0, min(p.At-stripCells/2, n-stripCells))
	d.y += 2*lineHeight + 4
	name := fmt.Sprintf("%s of rank %d", p.Buf, rank)
	d.texts(margin, d.y, faintText, name)
	x := margin + charWidth*(utf8.RuneCountInString(name)+2)
	for i := from; i < min(n, from+stripCells); i++ {
		look := plainBox
		if i >= p.At && i < p.At+p.N {
			look = wrongBox
		}
		fmt.Fprintf(&d.out, `<rect x="%d" y="%d" width="%d" height="%d" %s/>`+"\n", x, d.y-cellSize+8, cellSize, cellSize,
			look)
		d.texts(x+cellSize/2-charWidth*len(fmt.Sprint(i))/2, d.y, plainText, fmt.Sprint(i))
		x += cellSize
	}
	if n > stripCells {
		d.texts(x+charWidth, d.y, faintText, fmt.Sprintf("of %d", n))
	}
}

// arrange gives columns and lanes their places.
func (d *drawing) arrange() {
	s := d.scene
	columns := s.to - s.from + 1
	d.widths, d.left, d.lane = make([]int, columns), make([]int, columns), make([]int, len(s.ranks)+1)
	heights := make([]int, len(s.ranks))
	for _, b := range s.boxes {
		chars := len("step 00")
		for _, l := range b.lines {
			chars = max(chars, utf8.RuneCountInString(l.text))
		}
		d.widths[b.column-s.from] = max(d.widths[b.column-s.from], chars*charWidth+2*boxPad)
		r := slices.Index(s.ranks, b.rank)
		heights[r] = max(heights[r], b.height())
	}
	x := margin + laneName
	for c := range d.left {
		d.left[c] = x
		if d.widths[c] > 0 {
			x += d.widths[c] + gap
		}
	}
	d.width = max(d.width, x)
	y := d.y + 2*lineHeight
	for r, h := range heights {
		d.lane[r] = y
		y += max(h, 2*lineHeight) + laneGap
	}
	d.lane[len(s.ranks)] = y
}

func (b *box) height() int { return (len(b.lines)+1)*lineHeight + 2*boxPad }

// draw draws lanes, arrows, and boxes over them.
func (d *drawing) draw() {
	for i, r := range d.scene.ranks {
		fmt.Fprintf(&d.out, `<line x1="%d" y1="%d" x2="%d" y2="%d" %s/>`+"\n", margin, d.lane[i]-laneGap/2,
			d.width-margin, d.lane[i]-laneGap/2, laneLine)
		look := rankText
		if r == d.p.Focus.Rank {
			look = wrongText
		}
		d.texts(margin, d.lane[i]+lineHeight, look, fmt.Sprintf("rank %d", r))
	}
	for _, a := range d.scene.arrows {
		d.arrow(a)
	}
	for i := range d.scene.boxes {
		d.box(&d.scene.boxes[i])
	}
	d.y = d.lane[len(d.scene.ranks)] + lineHeight/2
	if note := d.scene.clipped(); note != "" {
		d.texts(margin, d.y, faintText, note)
		d.y += lineHeight
	}
}

// corner returns where a box begins.
func (d *drawing) corner(b *box) (x, y int) {
	return d.left[b.column-d.scene.from], d.lane[slices.Index(d.scene.ranks, b.rank)]
}

func (d *drawing) box(b *box) {
	x, y := d.corner(b)
	look := plainBox
	if slices.ContainsFunc(b.lines, func(l line) bool { return l.wrong }) {
		look = wrongBox
	}
	width := d.widths[b.column-d.scene.from]
	fmt.Fprintf(&d.out, `<rect x="%d" y="%d" width="%d" height="%d" rx="4" %s/>`+"\n", x, y, width, b.height(),
		look)
	d.texts(x+boxPad, y+boxPad+lineHeight-5, faintText, fmt.Sprintf("step %d", b.step))
	for k, l := range b.lines {
		look := plainText
		if l.wrong {
			look = wrongText
		}
		d.texts(x+boxPad, y+boxPad+(k+2)*lineHeight-5, look, l.text)
	}
}

// arrow goes from one box to another, through the gap between their columns; where they are in one column, through the
// gap right of it.
func (d *drawing) arrow(a arrow) {
	from, to := &d.scene.boxes[a.from.box], &d.scene.boxes[a.to.box]
	x1, y1 := d.corner(from)
	x2, y2 := d.corner(to)
	y1 += boxPad + (a.from.line+1)*lineHeight + lineHeight/2
	y2 += boxPad + (a.to.line+1)*lineHeight + lineHeight/2
	if from.column <= to.column {
		x1 += d.widths[from.column-d.scene.from]
	}
	if from.column >= to.column {
		x2 += d.widths[to.column-d.scene.from]
	}
	bend1, bend2 := gap/2, -gap/2
	switch {
	case from.column == to.column:
		bend1 = min(gap-12, gap/3+abs(y2-y1)/24)
		bend2 = bend1
	case from.column > to.column:
		bend1, bend2 = -gap/2, gap/2
	}
	near := 3
	if bend2 < 0 {
		near = -near
	}
	d.path(a.wrong, "M%d %dC%d %d %d %d %d %d", x1, y1, x1+bend1, y1, x2+bend2, y2, x2+near, y2)
}

func (d *drawing) path(wrong bool, format string, args ...any) {
	look, head := plainArrow, plainHead
	if wrong {
		look, head = wrongArrow, wrongHead
	}
	fmt.Fprintf(&d.out, `<path d="%s" %s marker-end="url(#%s)"/>`+"\n", fmt.Sprintf(format, args...), look, head.id)
}

func abs(x int) int { return max(x, -x) }

// clipped says what is left out.
func (x *scene) clipped() string {
	var notes []string
	if len(x.ranks) < x.of {
		notes = append(notes, fmt.Sprintf("%d of %d ranks", len(x.ranks), x.of))
	}
	if x.from > 0 || x.to < x.last {
		notes = append(notes, fmt.Sprintf("columns %d to %d of %d", x.from+1, x.to+1, x.last+1))
	}
	if notes == nil {
		return ""
	}
	return "Shown are " + strings.Join(notes, ", ") + "."
}

// done returns the whole file.
func (d *drawing) done() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" %s>`+
		"\n", d.width, d.y, d.width, d.y, fonts)
	fmt.Fprintf(&b, "<title>%s</title>\n<desc>%s</desc>\n", escape(d.p.Title), escape(d.p.Description))
	for _, m := range []head{plainHead, wrongHead} {
		fmt.Fprintf(&b, `<marker id="%s" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" `+
			`markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" %s/></marker>`+"\n", m.id, m.look)
	}
	fmt.Fprintf(&b, `<rect width="%d" height="%d" %s/>`+"\n", d.width, d.y, ground)
	b.WriteString(d.out.String())
	b.WriteString("</svg>\n")
	return b.String()
}
