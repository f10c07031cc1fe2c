package exec

import (
	"strconv"

	"github.com/collgen/collgen/fast/internal/wire"
)

// MaxLabel is how many bytes a label may have.
const MaxLabel = 256

// IsLabel reports whether s may be the label of a call: 1 to MaxLabel printable ASCII characters.
func IsLabel(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= MaxLabel
}

// OnlyLabel returns the label that opts name, or "". It fails if one of them is another option.
func OnlyLabel(what string, opts []Option) (string, error) {
	label, ok := labelOf(opts)
	for i := range opts {
		ok = ok && (opts[i].Kind == LabelOption || opts[i].Kind == 0)
	}
	if !ok {
		return "", wire.Refuse(what, "an option is not a label, or its label is not 1 to %d printable ASCII characters",
			MaxLabel)
	}
	return label, nil
}

// Label returns what the call is called by its program: its label, or the first and the last one of a Bucket's tensors.
// It is "" if they have none.
func (p *Form) Label() string {
	switch l := &p.lengths; {
	case p.label != "":
		return p.label
	case l.first == l.last:
		return l.first
	default:
		return l.first + " to " + l.last
	}
}

// Labelled returns p with a label; "": without one.
func (p Form) Labelled(label string) Form {
	p.label = label
	return p
}

// describeLabel adds the label of p, or those of a Bucket's tensors, to what ranks compare in a call.
func (p *Form) describeLabel(d *wire.Call) {
	var b [wire.TextBytes]byte
	switch l := &p.lengths; {
	case p.label != "":
		d.Primitive = thenText(d.Primitive, p.label)
		text := append(append(b[:0], printed(&d.PrimitiveName)...), ` "`...)
		d.SetText(append(appendEnd(text, p.label, len(b)-len(text)-1), '"'))
	case l.first != "": // which are in the hash of the lengths
		text := append(strconv.AppendInt(append(b[:0], "Bucket "...), int64(l.n), 10), `: "`...)
		const between = `" to "`
		text = append(appendEnd(text, l.first, (len(b)-len(text)-len(between)-1)/2), between...)
		d.SetText(append(appendEnd(text, l.last, len(b)-len(text)-1), '"'))
	}
}

// printed returns the characters of a name.
func printed(l *wire.Label) []byte {
	for i, c := range l {
		if c == 0 {
			return l[:i]
		}
	}
	return l[:]
}

// appendEnd appends label to text; if it is longer than room, only its end, which tells tensors apart.
func appendEnd(text []byte, label string, room int) []byte {
	const cut = ".."
	switch {
	case len(label) <= room:
		return append(text, label...)
	case room <= len(cut):
		return text
	}
	return append(append(text, cut...), label[len(label)-(room-len(cut)):]...)
}

// thenText returns the hash of a call with that hash, and of a text.
func thenText(hash uint64, text string) uint64 {
	hash = wire.Mix(hash ^ uint64(len(text)))
	for i := range len(text) {
		hash = wire.Mix(hash ^ uint64(text[i]))
	}
	return hash
}
