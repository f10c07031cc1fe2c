package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
)

// Trial is a call and how long it took.
type Trial struct {
	Call
	Seconds float64 // of one call of them, on the average over all ranks
}

// Ratio returns how long m predicts that t takes, over how long it took.
func (t *Trial) Ratio(ctx context.Context, m *Machine) (float64, error) {
	r, err := Play(ctx, m, t.Call)
	return r.Mean.Seconds() / float64(max(1, t.Repeat)) / t.Seconds, err
}

// Knob is a number of a machine that is looked for.
type Knob struct {
	Name string
	Is   float64
	Set  func(is float64) // has the machine have the number, in all places
}

func (k *Knob) set(is float64) {
	k.Is = is
	k.Set(is)
}

// factors are by how much knobs are turned at a time.
var factors = []float64{4, 2, 1.4, 1.2, 1.1, 1.05}

// Fit turns knobs of m, which begin with numbers of more than 0, until the misfit of trials gets no better. progress
// hears of what misfit there is; nil: nobody.
func Fit(ctx context.Context, m *Machine, knobs []Knob, trials []Trial, progress func(misfit float64)) error {
	if err := fittable(knobs, trials); err != nil {
		return err
	}
	for i := range knobs {
		knobs[i].Set(knobs[i].Is)
	}
	misfit, err := Misfit(ctx, m, trials)
	for _, factor := range factors {
		for better := true; better && err == nil; {
			before := misfit
			for i := range knobs {
				if misfit, err = knobs[i].turn(ctx, m, trials, factor, misfit); err != nil {
					return err
				}
			}
			if progress != nil {
				progress(misfit)
			}
			better = misfit < .99*before
		}
	}
	return err
}

func fittable(knobs []Knob, trials []Trial) error {
	if len(trials) == 0 {
		return errors.New("there is nothing to fit to")
	}
	for _, k := range knobs {
		if !(k.Is > 0) {
			return fmt.Errorf("%s begins with %v, want more than 0", k.Name, k.Is)
		}
	}
	for i := range trials {
		if s := trials[i].Seconds; !(s > 0) || math.IsInf(s, 0) {
			return fmt.Errorf("trial %d took %v seconds", i, s)
		}
	}
	return nil
}

// turn multiplies k by a factor, or divides it, as long as the misfit becomes less.
func (k *Knob) turn(ctx context.Context, m *Machine, trials []Trial, factor, misfit float64) (float64, error) {
	for _, f := range []float64{factor, 1 / factor} {
		for {
			was := k.Is
			k.set(was * f)
			less, err := Misfit(ctx, m, trials)
			if err != nil || less >= misfit*(1-1e-4) {
				k.set(was)
				if err != nil {
					return misfit, err
				}
				break
			}
			misfit = less
		}
	}
	return misfit, nil
}

// Misfit returns how far m is from trials: the mean over all of them of the square of the logarithm, to base 2, of its
// Ratio. Beyond a half it grows only as the logarithm itself, so that a few trials that went wrong do not decide.
func Misfit(ctx context.Context, m *Machine, trials []Trial) (float64, error) {
	off, errs := make([]float64, len(trials)), make([]error, len(trials))
	var all sync.WaitGroup
	workers := min(len(trials), runtime.GOMAXPROCS(0))
	for w := range workers {
		all.Go(func() {
			for i := w; i < len(trials); i += workers {
				var ratio float64
				ratio, errs[i] = trials[i].Ratio(ctx, m)
				off[i] = blunt(math.Log2(max(ratio, 1e-9)))
			}
		})
	}
	all.Wait()
	sum := 0.0
	for _, x := range off {
		sum += x / float64(len(off))
	}
	return sum, errors.Join(errs...)
}

// blunt returns x squared, beyond a half its tangent.
func blunt(x float64) float64 {
	if x = math.Abs(x); x > .5 {
		return x - .25
	}
	return x * x
}
