package colltest

import (
	"bytes"
	"fmt"
	"math"
	"runtime"

	"github.com/collgen/collgen/spec"
)

// fold returns the problem with the result of a reduction, or "". If the tree makes no difference, or is promised, it
// compares bits, except those of NaNs. Otherwise an element may be the result of any tree; of whole numbers that have
// no sum too large for the type, all trees give the same.
func (t *trial) fold(content spec.Content, got []byte, counts *Counts) string {
	runtime.Gosched() // the ranks that make calls meanwhile come first
	operands, want, size := t.operands(content), t.leftFold(content), t.step.Type.Bytes()
	counts.Elements += len(got) / size
	if bytes.Equal(got, want) {
		return t.elsewhere(operands, want)
	}
	if known, ok := t.known(content, got); ok {
		counts.Undetermined += known
		return ""
	}
	left, before := got, counts.Undetermined
	got = aligned(got)
	elements[t.step.Type].plain(got)
	exact := exact(t.step.Op, t.step.Type) || t.x.Order == spec.RankOrdered
	for i := 0; i < len(got); i += size {
		if bytes.Equal(got[i:i+size], want[i:i+size]) {
			continue
		}
		v, bits := wrong, exact
		switch {
		case t.unsaid(operands, i):
			v = t.oneOf(operands, i, got[i:i+size])
		case !exact:
			if bits = t.isWhole(operands, i); !bits {
				v = t.judge(operands, i, got[i:i+size])
			}
			if v == undetermined && t.oneTree(operands) {
				v, bits = wrong, true
			}
		}
		switch v {
		case wrong:
			return fmt.Sprintf("element %d is %s, want %s%s of %s", i/size, t.text(got[i:]), t.text(want[i:]),
				t.margin(bits, len(operands)), t.texts(operands, i))
		case undetermined:
			counts.Undetermined++
		}
	}
	text := t.elsewhere(operands, got)
	if text == "" {
		t.remember(content, left, counts.Undetermined-before)
	}
	return text
}

// acceptable is a result of a reduction that is right, with how many of its elements are undetermined.
type acceptable struct {
	bits         []byte
	undetermined int
}

// known reports whether a result is one that another rank has, and that was right, and how many of its elements are
// undetermined. To judge one takes long.
func (t *trial) known(content spec.Content, got []byte) (undetermined int, ok bool) {
	t.folding.Lock()
	defer t.folding.Unlock()
	right, ok := t.right[fmt.Sprint(content.Terms)]
	return right.undetermined, ok && bytes.Equal(got, right.bits)
}

// remember notes that a result is right.
func (t *trial) remember(content spec.Content, got []byte, undetermined int) {
	t.folding.Lock()
	defer t.folding.Unlock()
	t.right[fmt.Sprint(content.Terms)] = acceptable{got, undetermined}
}

// leftFold returns the reduction from left to right, with plain NaNs. It is the same for many ranks.
func (t *trial) leftFold(content spec.Content) []byte {
	name := fmt.Sprint(content.Terms)
	t.folding.Lock()
	defer t.folding.Unlock()
	if t.folds[name] == nil {
		e := elements[t.step.Type]
		fold := e.leftFold(t.step.Op, len(t.inputs), t.operands(content))
		e.plain(fold)
		t.folds[name] = fold
	}
	return t.folds[name]
}

// unsaid reports whether the implementation does not say what the element at byte i is: which of several operands, one
// of which is NaN or -0.
func (t *trial) unsaid(operands [][]byte, i int) bool {
	if !t.step.Values.Keep {
		return false
	}
	for _, operand := range operands {
		for _, x := range elements[t.step.Type].parts(aligned(operand[i : i+t.step.Type.Bytes()])) {
			if t.step.Values.NoNaN && math.IsNaN(x) || t.step.Values.NoMinusZero && x == 0 && math.Signbit(x) {
				return true
			}
		}
	}
	return false
}

// oneOf returns undetermined if got is one of the operands of the element at byte i.
func (t *trial) oneOf(operands [][]byte, i int, got []byte) verdict {
	for _, operand := range operands {
		one := aligned(operand[i : i+len(got)])
		if elements[t.step.Type].plain(one); bytes.Equal(one, got) {
			return undetermined
		}
	}
	return wrong
}

// elsewhere returns in words where two elements of a result differ though their operands are the same, or "". Only
// results that nothing else determines are compared.
func (t *trial) elsewhere(operands [][]byte, got []byte) string {
	size := t.step.Type.Bytes()
	first := map[string]int{} // byte, by the operands
	for i := 0; i < len(got) && t.step.Values.Keep; i += size {
		if !t.unsaid(operands, i) {
			continue
		}
		var key []byte
		for _, operand := range operands {
			one := aligned(operand[i : i+size])
			elements[t.step.Type].plain(one)
			key = append(key, one...)
		}
		other, known := first[string(key)]
		switch {
		case !known:
			first[string(key)] = i
		case !bytes.Equal(got[i:i+size], got[other:other+size]):
			return fmt.Sprintf("element %d is %s, and element %d is %s, of the same operands %s", other/size,
				t.text(got[other:]), i/size, t.text(got[i:]), t.texts(operands, i))
		}
	}
	return ""
}

// oneTree reports whether there is one tree alone, with one rounding. Then a very large or small result has one value.
func (t *trial) oneTree(operands [][]byte) bool {
	return len(operands) == 2 && t.step.Op != spec.OpAvg && t.step.Type.Class() != spec.Complex
}

// isWhole reports whether the operands of the element at byte i are whole numbers whose sums the type has, however they
// are grouped. An average then is one rounded quotient.
func (t *trial) isWhole(operands [][]byte, i int) bool {
	if t.step.Op == spec.OpProd || t.step.Type.Class() == spec.Complex {
		return false
	}
	sum := 0.0
	for _, operand := range operands {
		x := elements[t.step.Type].parts(aligned(operand[i : i+t.step.Type.Bytes()]))[0]
		if x != math.Trunc(x) { // NaN too
			return false
		}
		sum += math.Abs(x)
	}
	return sum <= math.Ldexp(1, t.step.Type.Precision())
}

// aligned returns an aligned copy of b.
func aligned(b []byte) []byte {
	a := Aligned(len(b))
	copy(a, b)
	return a
}

func (t *trial) operands(content spec.Content) (operands [][]byte) {
	for _, term := range content.Terms {
		operands = append(operands, t.inputs[term.Rank][term.Block])
	}
	return operands
}

// judge returns the verdict on the element at byte i.
func (t *trial) judge(operands [][]byte, i int, got []byte) verdict {
	e, size := elements[t.step.Type], t.step.Type.Bytes()
	var parts [][]float64 // by operand
	for _, operand := range operands {
		parts = append(parts, e.parts(operand[i:i+size]))
	}
	return judge(t.step.Op, t.step.Type, len(t.inputs), parts, e.parts(aligned(got)))
}

// margin returns in words which results other than that in rank order would be right.
func (t *trial) margin(exact bool, n int) string {
	if exact {
		return ", the reduction"
	}
	return fmt.Sprintf(" or what another tree gives (the bound is %.2g, relative to the absolute values), the reduction",
		t.step.Op.ErrorBound(t.step.Type, n-1, n))
}

// texts returns the operands of the element at byte i.
func (t *trial) texts(operands [][]byte, i int) (texts []string) {
	for _, operand := range operands {
		texts = append(texts, elements[t.step.Type].text(aligned(operand[i:i+t.step.Type.Bytes()])))
	}
	return texts
}

// differs returns the first elements that differ in more than the bits of NaNs, in words, or "".
func (t *trial) differs(got, want []byte) string {
	if bytes.Equal(got, want) {
		return ""
	}
	got, want = aligned(got), aligned(want)
	elements[t.step.Type].plain(got)
	elements[t.step.Type].plain(want)
	if bytes.Equal(got, want) {
		return ""
	}
	return t.difference(got, want)
}

// disagreements returns the ranks whose results of one reduction differ although the specification demands the same
// tree.
func (t *trial) disagreements(after [][]byte) (found []Problem) {
	type held struct {
		rank int
		bits []byte
	}
	first := map[string]held{} // by the operands
	for rank, c := range t.calls {
		if c == nil {
			continue
		}
		for b, content := range t.x.Ranks[rank].Out {
			at, n := t.outBlock(rank, b)
			bits, name := after[rank][at:at+n], fmt.Sprint(content.Terms)
			other, known := first[name]
			switch {
			case content.Kind != spec.Fold:
			case !known:
				first[name] = held{rank, bits}
			default:
				if text := t.differs(bits, other.bits); text != "" {
					found = append(found, Problem{Kind: Disagree, Rank: rank, Text: fmt.Sprintf(
						"block %d of out: it is not what rank %d has, though all ranks get the same bits: %s", b,
						t.members[other.rank], text)})
				}
			}
		}
	}
	return found
}
