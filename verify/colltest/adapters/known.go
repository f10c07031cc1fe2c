package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/collgen/collgen/verify/colltest"
)

// known is a failure that docs/lab/peers.md tells of.
type known struct {
	section string
	says    *regexp.Regexp // what a failure has to say to be this one
	cases   []string       // JSON of cases that fail, for what random cases meet rarely
}

func isKnown(section, says string, cases ...string) known {
	return known{section, regexp.MustCompile(says), cases}
}

// nanPlaces is what a failure says if elements with the same operands, a NaN among them, get different results.
const nanPlaces = `op (min|max)[\s\S]*NaN.*of the same operands`

// wrongAgain is what a failure says if a persistent call moves what was there before.
const wrongAgain = `(AllGather|Gather|Scatter) of .*, persistent.*[\s\S]*it is not block`

// The known failures.
var (
	saturates = isKnown("A1", `of u?int(8|16), .*op sum[\s\S]*element \d+ is (-128|127|255|-32768|32767|65535) `)
	vectorNaN = isKnown("A2", nanPlaces, special("Reduce", "float32", "min", 5, 90),
		special("AllReduce", "float32", "min", 5, 90), special("ReduceScatter", "float32", "min", 5, 36))
	emptyRank = isKnown("A3", `AllToAll of .*in place.*(started|batched|persistent)[\s\S]*still in`, `{"Size":2,"Steps":[`+
		`{"Primitive":"AllToAll","Type":"int32","Mode":"started","Counts":[[1,0],[0,0]],"InPlace":true,"Values":{"Seed":1}},`+
		`{"Primitive":"AllToAll","Type":"int32","Mode":"started","Counts":[[1,1],[1,1]],"InPlace":true,"Values":{"Seed":1}}]}`)

	unsignedMin  = isKnown("B1", `of uint\d+, .*op min[\s\S]*element \d+ is .*the reduction of`)
	inPlaceCrash = isKnown("B2", `Reduce of .*, root [1-9]\d*, in place[\s\S]*(exit status 11|Segmentation fault)`)
	nanRanks     = isKnown("B3", `AllReduce of .*, op (min|max)[\s\S]*though all ranks get the same bits.*NaN`,
		special("AllReduce", "float64", "min", 1, 2))
	nanPlace = isKnown("B4", nanPlaces, special("AllReduce", "float64", "min", 5, 90),
		special("Reduce", "float64", "min", 257, 0))

	persistent        = isKnown("B5", wrongAgain)
	persistentInIntel = isKnown("D3", wrongAgain)

	halfLost    = isKnown("C1", `of float16, .*op [\s\S]*element \d+ is .*the reduction`)
	emptyCrash  = isKnown("C2", `AllGather of .*blocks of 0 elements[\s\S]*floating point exception`)
	bcubeDrops  = isKnown("C3", `^on ([3-9]|\d\d+) ranks[\s\S]*element \d+ is .*the reduction`)
	ranksDiffer = isKnown("C4", `^on ([3-9]|\d\d+) ranks[\s\S]*of b?float\d+, .*op [\s\S]*though all ranks get the same bits`)

	glooNaN = isKnown("C5", nanPlaces, special("Reduce", "float32", "min", 5, 90),
		special("AllReduce", "float32", "min", 5, 90), special("ReduceScatter", "float32", "min", 5, 36))
	rareProduct = isKnown("C6", `^on 3 ranks[\s\S]*ReduceScatter of int64, blocks of 1029 .*op prod[\s\S]*the reduction of`)

	zeros = isKnown("D1", `op (min|max)[\s\S]*element \d+ is -?0 \(.*(want -?0 \(|of the same operands)`,
		special("AllReduce", "float32", "min", 12, 20))
	ownBlock = isKnown("D2", `ReduceScatter of .*blocks of \[\[.*in place[\s\S]*the reduction of`, `{"Size":2,"Steps":[{`+
		`"Primitive":"ReduceScatter","Type":"int32","Op":"sum","Counts":[[1,17],[1,17]],"InPlace":true,"Values":{"Seed":1}}]}`)

	inputChanged = isKnown("E1", `Reduce of [\s\S]*block 0 of in: it has changed`)
	sameTensor   = isKnown("E2", `AllToAll of .*, in place`)
	torchNaN     = isKnown("E3", nanPlaces, special("Reduce", "float16", "min", 5, 90),
		special("AllReduce", "float16", "min", 5, 90), special("ReduceScatter", "float16", "min", 5, 36))
	noComplex = isKnown("E4", `Gather of complex[\s\S]*Invalid scalar type`,
		`{"Size":2,"Steps":[{"Primitive":"Gather","Type":"complex64","Count":1,"Values":{"Seed":0}}]}`)
	noType     = isKnown("E5", `(Invalid scalar type|can't be cast|does not support|not implemented for)`)
	complexAvg = isKnown("E6", `of complex.*op avg[\s\S]*NaN`)
)

// special returns the JSON of a case on 2 ranks with special values, such as NaN.
func special(primitive, typ, op string, count int, seed uint64) string {
	return fmt.Sprintf(`{"Size":2,"Steps":[{"Primitive":%q,"Type":%q,"Op":%q,"Count":%d,"Values":{"Kind":1,"Seed":%d,`+
		`"NoNaN":true,"NoMinusZero":true,"Keep":true}}]}`, primitive, typ, op, count, seed)
}

// fails returns e of which it is known that these primitives fail.
func (e entrant) fails(so known, primitives ...string) entrant {
	all := map[string][]known{}
	maps.Copy(all, e.known)
	for _, name := range primitives {
		all[name] = append(slices.Clone(all[name]), so)
	}
	e.known = all
	return e
}

// which returns which of the known failures of a primitive f is, and whether it is one.
func (e *entrant) which(primitive string, f *colltest.Failure) (known, bool) {
	i := slices.IndexFunc(e.known[primitive], func(k known) bool { return k.says.MatchString(f.String()) })
	if i < 0 {
		return known{}, false
	}
	return e.known[primitive][i], true
}

// tryKnown makes the cases of those known failures of a primitive that are not among found, each in a world of its own,
// and returns what fails. Some libraries use other algorithms after a number of calls.
func (e *entrant) tryKnown(ctx context.Context, impl colltest.Implementation, primitive string,
	found []*colltest.Failure) (more []*colltest.Failure, err error) {
	for _, k := range e.known[primitive] {
		if slices.ContainsFunc(found, func(f *colltest.Failure) bool { return k.says.MatchString(f.String()) }) {
			continue
		}
		for _, text := range k.cases {
			f, err := try(ctx, impl, primitive, text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k.section, err)
			}
			if f != nil {
				more = append(more, f)
			}
		}
	}
	return more, nil
}

// try makes a case, given as JSON, if it is one of the primitive.
func try(ctx context.Context, impl colltest.Implementation, primitive, text string) (*colltest.Failure, error) {
	var c colltest.Case
	if err := json.Unmarshal([]byte(text), &c); err != nil || c.Steps[0].Primitive != primitive {
		return nil, err
	}
	s := colltest.NewSuite(impl)
	f, err := s.Try(ctx, c)
	return f, errors.Join(err, s.Close())
}
