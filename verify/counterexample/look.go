package counterexample

// fonts are of one width. Looks are attributes and no style sheet, which many programs that show SVG ignore. The
// pictures have their own ground, so that they can be read on a page of any color.
const fonts = `font-family="DejaVu Sans Mono, Menlo, Consolas, monospace"`

// What text looks like.
const (
	plainText = `font-size="11.5" fill="#1f2328"`
	titleText = `font-size="15" font-weight="bold" fill="#1f2328"`
	faintText = `font-size="11.5" fill="#656d76"`
	rankText  = `font-size="11.5" font-weight="bold" fill="#1f2328"`
	wrongText = `font-size="11.5" font-weight="bold" fill="#c5221f"`
)

// What boxes and lines look like.
const (
	ground     = `fill="#ffffff"`
	plainBox   = `fill="#f6f8fa" stroke="#8c959f"`
	wrongBox   = `fill="#fdecea" stroke="#d93025" stroke-width="2"`
	laneLine   = `stroke="#d8dee4" stroke-dasharray="3 4"`
	plainArrow = `fill="none" stroke="#57606a" stroke-width="1.2"`
	wrongArrow = `fill="none" stroke="#d93025" stroke-width="2"`
)

// head is the head of an arrow.
type head struct{ id, look string }

var plainHead, wrongHead = head{"head", `fill="#57606a"`}, head{"wronghead", `fill="#d93025"`}
