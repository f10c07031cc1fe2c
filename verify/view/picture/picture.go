// Package picture draws schedules as moving pictures: SVG files that any browser plays, and that show one step where
// nothing moves. They have plain attributes, no style sheets and no scripts.
package picture

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/collgen/collgen/verify/view"
)

// MostRanks is the largest number of ranks that a picture has room for.
const MostRanks = 16

// Times of a picture, in seconds.
const (
	startTime = 1.2
	moveTime  = 1.1
	restTime  = 0.7
	endTime   = 2.0
)

// SVG returns the picture of a call. It fails for more than MostRanks ranks.
func SVG(d *view.Data) (string, error) {
	if d.Clipped != "" || d.Size > MostRanks || d.Cells == 0 {
		return "", fmt.Errorf("%s, %s: a picture has room for up to %d ranks", d.Name, d.Call, MostRanks)
	}
	p := &drawing{d: d, total: startTime + float64(d.Rounds)*(moveTime+restTime) + endTime}
	p.arrange()
	p.links()
	for rank := range d.Size {
		p.rank(rank)
	}
	for round := range d.Rounds {
		for _, m := range d.Sends(round) {
			p.token(m)
		}
	}
	p.captions()
	return p.done(), nil
}

// drawing is a picture that is being made.
type drawing struct {
	d             *view.Data
	out           strings.Builder
	total         float64 // seconds
	at            []point // the centres of ranks
	w, h          float64 // of a rank
	cell          float64 // the width of a chunk
	rows          [][]place
	width, height float64
}

type point struct{ x, y float64 }

// place is a chunk of a rank: a cell, and another one that is shown while the first is empty; -1: none.
type place struct{ first, other int }

// starts returns when a round begins, and when its messages have arrived.
func (p *drawing) starts(round int) (from, to float64) {
	from = startTime + float64(round)*(moveTime+restTime)
	return from, from + moveTime
}

// shows returns from when on the state after so many rounds is shown.
func (p *drawing) shows(moment int) float64 {
	if moment == 0 {
		return 0
	}
	_, to := p.starts(moment - 1)
	return to
}

// still is the moment that is shown where nothing moves.
const still = 1

// during makes an element visible from one time to another, and shown if nothing moves.
func (p *drawing) during(from, to float64, shown bool) string {
	opacity := 0
	if shown {
		opacity = 1
	}
	values, times := []string{"0"}, []string{"0"}
	if from <= 0 {
		values[0] = "1"
	} else {
		values, times = append(values, "1"), append(times, number(from/p.total))
	}
	if to < p.total {
		values, times = append(values, "0"), append(times, number(to/p.total))
	}
	if len(values) == 1 { // it is there all the time
		return `<g>`
	}
	return fmt.Sprintf(`<g opacity="%d"><animate attributeName="opacity" calcMode="discrete" dur="%ss" `+
		`repeatCount="indefinite" values="%s" keyTimes="%s"/>`, opacity, number(p.total), strings.Join(values, ";"),
		strings.Join(times, ";"))
}

// rank draws the box of a rank, and its chunks over time.
func (p *drawing) rank(rank int) {
	c := p.at[rank]
	fmt.Fprintf(&p.out, `<g transform="translate(%s,%s)"><rect width="%s" height="%s" rx="7" fill="#fff" stroke="#5a6068"/>`,
		number(c.x-p.w/2), number(c.y-p.h/2), number(p.w), number(p.h))
	fmt.Fprintf(&p.out, `<text x="8" y="15" font-size="12" fill="#1c1e21">rank %d</text>`, rank)
	for i, x := range p.rows[rank] {
		fmt.Fprintf(&p.out, `<g transform="translate(%s,%s)">`, number(6+float64(i%perRow)*p.cell),
			number(21+float64(i/perRow)*p.cell))
		p.states(x)
		p.out.WriteString("</g>")
	}
	p.out.WriteString("</g>\n")
}

// states draws what a place holds, as long as it holds it.
func (p *drawing) states(x place) {
	since := 0
	for since <= p.d.Rounds {
		node := p.node(x, since)
		until := since + 1
		for until <= p.d.Rounds && p.node(x, until) == node {
			until++
		}
		end := p.total
		if until <= p.d.Rounds {
			end = p.shows(until)
		}
		p.out.WriteString(p.during(p.shows(since), end, since <= still && still < until))
		p.chunk(node, p.cell-2)
		p.out.WriteString("</g>")
		since = until
	}
}

// node returns what a place holds at a moment.
func (p *drawing) node(x place, moment int) int {
	if x.first >= 0 {
		if node := p.d.At(x.first, moment); x.other < 0 || len(p.d.Ranks(node)) > 0 {
			return node
		}
	}
	return p.d.At(x.other, moment)
}

// token draws what a message carries, on its way.
func (p *drawing) token(m view.Message) {
	from, to := p.starts(m.Round)
	fmt.Fprint(&p.out, p.during(from, to, m.Round == still-1))
	c := p.curve(m.From, m.To)
	fmt.Fprintf(&p.out, `<path d="M%sQ%s %s" fill="none" stroke="#0b57a4" stroke-width="2" marker-end="url(#head)"/>`, c.p,
		c.c, c.q)
	p.out.WriteString(p.way(c, from, to))
	size := math.Max(14, p.cell-4)
	fmt.Fprintf(&p.out, `<g transform="translate(%s,%s)">`, number(-size/2), number(-size/2))
	if m.Cell >= 0 {
		p.chunk(p.d.At(m.Cell, m.Sent), size)
	} else {
		fmt.Fprintf(&p.out, `<circle cx="%[1]s" cy="%[1]s" r="4" fill="#0b57a4"/>`, number(size/2))
	}
	p.out.WriteString("</g>")
	if m.Reduces {
		fmt.Fprintf(&p.out, `<text x="%s" y="5" font-size="14" fill="#0b57a4">⊕</text>`, number(-size/2-14))
	}
	if m.N > 1 {
		fmt.Fprintf(&p.out, `<text x="%s" y="4" font-size="11" fill="#1c1e21">×%d</text>`, number(size/2+2), m.N)
	}
	p.out.WriteString("</g></g>\n")
}

// way begins an element that moves from the sender to the receiver, and lies between both where nothing moves.
func (p *drawing) way(c curve, from, to float64) string {
	values, times := []string{c.at(0).String(), c.at(0).String()}, []string{"0", number(from / p.total)}
	const parts = 6
	for i := 1; i <= parts; i++ {
		part := float64(i) / parts
		values, times = append(values, c.at(part).String()), append(times, number((from+part*(to-from))/p.total))
	}
	values, times = append(values, c.at(1).String()), append(times, "1")
	return fmt.Sprintf(`<g transform="translate(%s)"><animateTransform attributeName="transform" type="translate" `+
		`dur="%ss" repeatCount="indefinite" values="%s" keyTimes="%s"/>`, c.at(0.5), number(p.total),
		strings.Join(values, ";"), strings.Join(times, ";"))
}

// captions names the steps.
func (p *drawing) captions() {
	for moment := 0; moment <= p.d.Rounds; moment++ {
		from, to := 0.0, startTime
		words := "before the call"
		if moment > 0 {
			from, _ = p.starts(moment - 1)
			to, _ = p.starts(moment)
			words = fmt.Sprintf("step %d of %d", moment, p.d.Rounds)
		}
		if moment == p.d.Rounds {
			to = p.total
		}
		fmt.Fprintf(&p.out, `%s<text x="%s" y="20" text-anchor="middle" font-size="14" fill="#1c1e21">%s</text></g>`+"\n",
			p.during(from, to, moment == still), number(p.width/2), words)
	}
}

// done returns the whole file.
func (p *drawing) done() string {
	name := html.EscapeString(p.d.Name + ", " + p.d.Call)
	words := ""
	for _, x := range p.d.Phases {
		words += fmt.Sprintf("Steps %d to %d: %s ", x.From+1, x.To, x.Words)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img" `+
		`font-family="system-ui, DejaVu Sans, sans-serif">`+"\n<title>%s</title>\n<desc>%s</desc>\n"+
		`<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="10" markerHeight="10" `+
		`markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="#0b57a4"/></marker>`+
		`<rect width="100%%" height="100%%" rx="10" fill="#fbfbf9"/>`+"\n%s</svg>\n",
		number(p.width), number(p.height), name, html.EscapeString(strings.TrimSpace(words)), p.out.String())
}

// number returns a number with as few digits as a picture needs.
func number(x float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.4f", x), "0"), ".")
}
