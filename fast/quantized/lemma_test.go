package quantized

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The lemmas of the proof of ErrorBound, for all real numbers. The format is any: with rel, half of tiny, 1/most and
// least. Rounding is multiplication by 1 + a number of at most u.
const lemmaWords = `(set-logic QF_NRA)
(define-fun u () Real (/ 1.0 16777216.0))
(define-fun v () Real (- (* (+ 1.0 u) (+ 1.0 u) (+ 1.0 u)) 1.0))
(define-fun mag ((r Real)) Real (ite (>= r 0.0) r (- r)))
(define-fun larger ((a Real) (b Real)) Real (ite (>= a b) a b))
(declare-const rel Real) (declare-const half Real) (declare-const perMost Real) (declare-const least Real)
(assert (and (>= rel 0.0) (> half 0.0) (> perMost 0.0) (> least 0.0)))
(define-fun S ((m Real)) Real (larger (* m perMost) least))
(define-fun e ((x Real) (m Real)) Real
  (ite (= m 0.0) 0.0 (+ (* v (mag x)) (* (+ 1.0 v) (larger (* rel (mag x)) (* half (S m)))))))
`

// lemmas have what is given, what follows, and what would follow less: a mistake that is refuted.
var lemmas = []struct{ name, declare, given, follows, mistake string }{
	{"the error of quantizing x, whose code is y + off, with a scale s of a block with the maximum m, is at most e",
		"x m s b c d y off", `
(and (> m 0.0) (<= (mag x) m) (<= (mag b) u) (<= (mag c) u) (<= (mag d) u) (> s 0.0) (<= s (* (S m) (+ 1.0 u)))
  (= (* y s) (* x (+ 1.0 b) (+ 1.0 c))) (or (<= (mag off) (* rel (mag y))) (<= (mag off) half)))`,
		"(<= (mag (- (* (+ y off) s (+ 1.0 d)) x)) (e x m))",
		"(<= (mag (- (* (+ y off) s (+ 1.0 d)) x)) (- (e x m) (* v (mag x))))"},
	{"what is rounded is at most most·(1 + 2^-20), where the scale may be rounded down twice",
		"x m s a b c", `
(and (<= (mag x) m) (> m 0.0) (<= (mag b) u) (<= (mag c) u) (<= (* -3.0 u) a) (<= a u) (= s (* (S m) (+ 1.0 a))))`,
		"(<= (* (mag (* x (+ 1.0 b) (+ 1.0 c))) perMost) (* s (+ 1.0 (/ 1.0 1048576.0))))",
		"(<= (* (mag (* x (+ 1.0 b) (+ 1.0 c))) perMost) s)"},
	{"a sum has no more than the errors of its parts", "x m y n", // of magnitudes, as e is of these and grows
		"(and (<= 0.0 x m) (<= 0.0 y n))",
		"(<= (e (+ x y) (+ m n)) (+ (e x m) (e y n)))",
		"(<= (+ (e x m) (e y n)) (e (+ x y) (+ m n)))"},
	{"e grows no faster than what it is of", "x m g",
		"(and (<= (mag x) m) (>= g 1.0))",
		"(<= (e (* g x) (* g m)) (* g (e x m)))",
		"(<= (e (* g x) (* g m)) (e x m))"},
	{"e grows", "x m y n",
		"(and (<= (mag x) (mag y)) (<= m n) (<= (mag x) m) (<= (mag y) n))",
		"(<= (e x m) (e y n))",
		"(< (e x m) (e y n))"},
	{"an operand z that is added up adds its part to first", "x z g gamma err",
		"(and (<= (mag (- z x)) err) (<= (mag g) gamma))",
		"(<= (mag (- (* z (+ 1.0 g)) x)) (+ (* (+ 1.0 gamma) err) (* gamma (mag x))))",
		"(<= (mag (- (* z (+ 1.0 g)) x)) (+ err (* gamma (mag x))))"},
	{"the errors of k and of l additions are those of k + l", "k l",
		"(and (>= k 0.0) (>= l 0.0) (< (+ k l) 1.0))", // k and l are times u
		"(<= (* (+ 1.0 (/ k (- 1.0 k))) (+ 1.0 (/ l (- 1.0 l)))) (+ 1.0 (/ (+ k l) (- 1.0 k l))))",
		"(<= (* (+ 1.0 (/ k (- 1.0 k))) (+ 1.0 (/ l (- 1.0 l)))) (+ 1.0 k l))"},
	{"an average of n, a sum of at most total that is off by at most err, divided", "sum exact total err n d tiny",
		`
(and (>= n 1.0) (<= (mag exact) total) (<= (mag (- sum exact)) err) (<= (mag d) u))`,
		`(<= (mag (- (+ (* (/ sum n) (+ 1.0 d)) tiny) (/ exact n))) (+ (/ (+ err (* u (+ total err))) n) (mag tiny)))`,
		`(<= (mag (- (+ (* (/ sum n) (+ 1.0 d)) tiny) (/ exact n))) (+ (/ (+ err (* u total)) n) (mag tiny)))`},
}

// decided returns what z3 says of whether numbers exist for which what is given holds and what follows does not.
func decided(t *testing.T, declare, given, follows string) string {
	script := lemmaWords
	for _, name := range strings.Fields(declare) {
		script += "(declare-const " + name + " Real)\n"
	}
	script += "(assert " + given + ")\n(assert (not " + follows + "))\n(check-sat)\n"
	z3 := exec.CommandContext(t.Context(), "z3", "-in", "-T:60")
	z3.Stdin = strings.NewReader(script)
	out, err := z3.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestLemmas: z3 proves the lemmas, and refutes them with a mistake.
func TestLemmas(t *testing.T) {
	if _, err := exec.LookPath("z3"); err != nil {
		if os.Getenv("COLLGEN_SOLVERS") == "required" {
			t.Fatal(err)
		}
		t.Skipf("left out, because z3 is not installed (.ci/deps prove installs it): %v", err)
	}
	for _, l := range lemmas {
		t.Run(l.name, func(t *testing.T) {
			if got := decided(t, l.declare, l.given, l.follows); got != "unsat" {
				t.Errorf("it is %s that it does not hold", got)
			}
			if got := decided(t, l.declare, l.given, l.mistake); got != "sat" {
				t.Errorf("with a mistake, it is %s that it does not hold", got)
			}
		})
	}
}
