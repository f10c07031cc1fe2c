package drawing

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"strconv"
	"strings"
)

// SVG writes the drawing as SVG. It uses attributes that every renderer knows, and no style sheet.
func (d *Drawing) SVG(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" `+
		`font-family="DejaVu Sans, Helvetica, Arial, sans-serif">`+"\n", d.Width, d.Height)
	if d.Alt != "" {
		fmt.Fprintf(&b, "<title>%s</title>\n", escape(d.Alt))
	}
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="%s"/>`+"\n", d.Width, d.Height, hex(d.Paper))
	for _, x := range d.Boxes {
		fmt.Fprintf(&b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"`, length(x.X), length(x.Y), length(x.Width),
			length(x.Height), hex(x.Color))
		says(&b, "rect", x.Says)
	}
	for i := range d.Lines {
		d.Lines[i].svg(&b)
	}
	for _, x := range d.Dots {
		fmt.Fprintf(&b, `<circle cx="%s" cy="%s" r="%s" fill="%s"`, length(x.X), length(x.Y), length(x.Radius), hex(x.Color))
		says(&b, "circle", x.Says)
	}
	for i := range d.Texts {
		d.Texts[i].svg(&b)
	}
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// says ends an element, with what appears under the pointer.
func says(b *bytes.Buffer, element, text string) {
	if text == "" {
		b.WriteString("/>\n")
		return
	}
	fmt.Fprintf(b, "><title>%s</title></%s>\n", escape(text), element)
}

func (l *Line) svg(b *bytes.Buffer) {
	if len(l.Points) == 0 {
		return
	}
	var path strings.Builder
	command := "M"
	for _, p := range l.Points {
		path.WriteString(command + length(p.X) + " " + length(p.Y))
		command = "L"
	}
	fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="%s"`, path.String(), hex(l.Color), length(l.Width))
	if l.Dash != nil {
		var dashes []string
		for _, d := range l.Dash {
			dashes = append(dashes, length(d))
		}
		fmt.Fprintf(b, ` stroke-dasharray="%s"`, strings.Join(dashes, " "))
	}
	b.WriteString("/>\n")
}

func (t *Text) svg(b *bytes.Buffer) {
	fmt.Fprintf(b, `<text x="%s" y="%s" font-size="%s" fill="%s"`, length(t.X), length(t.Y), length(t.Size), hex(t.Color))
	if t.Bold {
		b.WriteString(` font-weight="bold"`)
	}
	if t.Anchor != Start && t.Anchor != "" {
		fmt.Fprintf(b, ` text-anchor="%s"`, t.Anchor)
	}
	fmt.Fprintf(b, ">%s</text>\n", escape(t.Text))
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// length returns a length with one digit after the point, or with none where that is 0.
func length(x float64) string { return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0") }

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
