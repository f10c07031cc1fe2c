package emittest

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/internal/gomutants"
)

// Mutants of the generated functions: in copies of their files every term, operator, argument, statement and mark is
// one that can be switched to a wrong one, in a single build. The comparison with the schedules, in the sample of make
// test, and the look at errors have to see each of those in the functions of algorithms, and the look at calls each of
// those in the functions that programs call.

// mutants is what the copies add: they set it. Where they are not it is nil.
var mutants *struct {
	sites []string       // what and where: "zreduce.go:120 reduceChain: …"
	plant func(site int) // switches one to be wrong; -1: none
}

// TestMutatedCodeIsNotTheSchedule builds the mutants, and runs TestMutants on them.
func TestMutatedCodeIsNotTheSchedule(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, overlay, m := t.TempDir(), map[string]string{}, &gomutants.Mutator{Planter: gomutants.Switches{}}
	put := func(folder, name, text string) (path string) {
		path = filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(here, folder, name)] = path
		return path
	}
	paths, err := filepath.Glob(filepath.Join(fastDir, "z*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		text, err := m.File(name, source, func(d ast.Decl) bool { _, ok := d.(*ast.FuncDecl); return ok })
		if err != nil {
			t.Fatal(err)
		}
		put(fastDir, name, string(text))
	}
	put(fastDir, "zplant.go", "package fast\n\nvar planted = -1\n\nfunc Plant(site int) { planted = site }\n\n"+
		"func plant[T any](site int, right, wrong T) T {\n\tif site == planted {\n\t\treturn wrong\n\t}\n\treturn right\n}\n")
	put(".", "zplant_test.go", fmt.Sprintf("package emittest\n\nimport %q\n\nfunc init() {\n\tmutants = &struct {\n"+
		"\t\tsites []string\n\t\tplant func(site int)\n\t}{%#v, fast.Plant}\n}\n", fastPath, m.Sites))
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	file := put(".", "overlay.json", string(list))
	out, err := exec.Command("go", "test", "-overlay", file, "-vet=off", "-count=1", "-v", "-run", "^TestMutants$",
		".").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "mutants are seen") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestMutants runs on mutated copies alone: see above.
func TestMutants(t *testing.T) {
	if mutants == nil {
		t.Skip("TestMutatedCodeIsNotTheSchedule runs it on mutated copies")
	}
	algorithms, used := map[string][]gen.Algorithm{}, map[string]bool{}
	for _, a := range catalogue.Algorithms() {
		algorithms[functionName(&a)] = append(algorithms[functionName(&a)], a)
	}
	seen := 0
	for site, words := range mutants.sites {
		_, rest, _ := strings.Cut(words, " ")
		name, _, _ := strings.Cut(rest, ":")
		mutants.plant(site)
		switch {
		case mutantFault(t, name, algorithms) != "":
			seen++
		case !excuses(words, used):
			t.Errorf("not seen: %s", words)
		}
	}
	for _, name := range needless(used) {
		t.Errorf("it excuses nothing: %s", name)
	}
	t.Logf("%d of %d mutants are seen, and the others do what the code does", seen, len(mutants.sites))
}

// mutantFault returns the first thing that is wrong with a generated function.
func mutantFault(t *testing.T, name string, algorithms map[string][]gen.Algorithm) (fault string) {
	name = callerOf(name)
	if functions[name] != nil || unevenFunctions[name] != nil {
		_, fault = callFault(name)
		return fault
	}
	if algorithms[name] == nil {
		t.Fatalf("no algorithm has the function %s", name)
	}
	for _, a := range algorithms[name] {
		u := generated(t, &a)
		fault = firstFault(t, u)
		for _, size := range []int{3, 4, 9} { // some are for even sizes, have steps of four ranks, or scratch from nine on
			if fault == "" && len(a.Locals(size)) > 0 {
				_, fault = u.errorFault(size, 2)
			}
		}
		if fault != "" {
			break
		}
	}
	return fault
}

// callerOf returns the function that programs call whose buffers the function name has as bytes; or name, if that is
// another one.
func callerOf(name string) string {
	is, ok := strings.CutSuffix(name, "Bytes")
	if !ok {
		return name
	}
	is = strings.ToUpper(is[:1]) + is[1:]
	if into := is + "Into"; functions[into] != nil || unevenFunctions[into] != nil {
		return into
	}
	return is
}

// equivalent is mutants that do what the code does: functions and what is wrong in them, in lines that contain one
// text, and why. Each of the functions has each of them.
type equivalent struct {
	functions, what []string
	line, why       string
}

var equivalents = []equivalent{
	{of("allReduceTree broadcastBinomial broadcastScatterAllgather gatherBinomial reduceBinomial scatterBinomial"),
		[]string{"size is one more"},
		"levels := bits.Len(uint(size - 1))", "a level more has no ranks on its other side"},
	{of("allReduceTree broadcastScatterAllgather"), []string{"- is +"}, "levels := bits.Len(uint(size - 1))", "the same"},
	{of("allReduceTree broadcastBinomial gatherBinomial reduceBinomial scatterBinomial"), []string{"< is <="},
		"top != other && half < other",
		"half and other differ in a bit"},
	{of("allReduceRabenseifner allReduceRecursiveDoubling allReduceRecursiveMultiplying allReduceSwing allReduceTree " +
		"reduceBinomial"), []string{"rank is one more", "< is <="}, "partner < rank)",
		"a rank is not its own partner"},
	{of("allGatherRecursiveDoubling allReduceRabenseifner allReduceRecursiveDoubling " +
		"allReduceRecursiveMultiplying"), []string{"rank is one more"},
		"player = rank >> 1", "rank is even there"},
	{of("allReduceTree"), []string{"size is one more", "- is +"}, "pad := full - size",
		"it is set to 0 below: the root is rank 0"},
	{of("allReduceTree"), []string{"+ is -"}, "half := (rank + pad) >> j", "pad is 0 where the root is rank 0"},
	{of("allReduceTree"), []string{"- is +"}, "<<j-pad", "pad is 0 where the root is rank 0"},
	{of("allReduceTree"), []string{"0 is one more"}, "lo := max(half<<j-pad, 0)",
		"it differs in the half of the root alone, whose leader is rank 0"},
	{of("allReduceTree"), []string{"1 is one more"}, "theirs := min((other+1)<<j-pad",
		"only its sign counts, which is that of size - from"},
	{of("allReduceTree"), []string{"0 is one more", "> is >="}, "if full > 0 {", "full is 1 at least"},
	{of("allReduceTree"), []string{"1 is one more"}, "full := 1 << levels", "it is only compared with 0"},
	{of("broadcastScatterAllgather"), []string{"size is one more", "- is +"}, "for s := range size - 1 {",
		"in the last turn nobody lacks anything"},
	{of("broadcastScatterAllgather"), []string{"size is one more"}, "mine = size",
		"a rank that lacks nothing lacks nothing"},
	{of("broadcastScatterAllgather"), []string{"size is one more"}, "theirs = size", "the same"},
	{of("reduceChain"), []string{"Out is In", "a call is left out"}, "x.Finish(x.Out.Span(0, depth))",
		"of one rank the average is divided by 1"},
	{of("reduceScatterGather"), []string{"Out is In", "a call is left out"}, "x.Finish(x.Out.Chunk(0))", "the same"},
	{of("reduceChain"), []string{"size is one more", "- is +", "< is <="},
		"if i < depth && place < size-1 && rank == root {",
		"the root's place is 0; of one rank the average is divided by 1"},
	{of("allGatherDirect allGatherRecursiveDoubling allGatherRing allReduceRecursiveDoubling allReduceTree " +
		"allToAllDirect allToAllPairwise " +
		"barrierDirect barrierDissemination barrierKDissemination broadcastBinomial broadcastLinear gatherLinear " +
		"scatterLinear sendDirect allReduceChunkedRing " +
		"allReduceSegmentedRing allReduceRing allReduceRabenseifner broadcastScatterAllgather broadcastChain scanChain " +
		"exscanChain allGatherVDirect " +
		"allGatherVRing allToAllVDirect allToAllVPairwise gatherVLinear scatterVLinear " +
		"allGatherBidirectionalRing allReduceBidirectionalRing allGatherTwoLevel barrierTwoLevel broadcastKNomial " +
		"broadcastTwoLevel " +
		"allGatherNeighbourExchange allGatherPat broadcastBinaryTree allReduceDoubleTree " +
		"allGatherSparbit allGatherCirculant allReduceSwing broadcastCirculant"),
		[]string{"the error of Layout is dropped"},
		", 0); err != nil {", "without scratch it does not fail"},
	{of("allReduceOneShot reduceLinear allReduceTwoLevel allReduceTwoShot reduceScatterDirect reduceScatterVDirect " +
		"allReduceLeaders reduceTwoLevel reduceScatterTwoLevel reduceScatterPat scanDirect"), []string{"Refer is Copy"},
		"x.Refer(", "the copy is read instead"},
	{of("reduceScatterPat"), []string{"1 is one more"}, "slots := min(1, size-1) *", "more slots than are used"},
	{of("reduceScatterPat"), []string{"above is one more"}, "waits := bits.Len(uint(above&-above))",
		"above is even, and (above+1)&-above has the same bits"},
	{of("allReduceTwoShot reduceScatterVDirect"), []string{"Slot is Chunk"},
		"x.Refer(x.Scratch.Slot(rank, rank), x.In.Chunk(rank))", "of a place that is referred to only the beginning counts"},
	{of("allReduceTwoShot reduceScatterVDirect"), []string{"Slot is Chunk"}, "x.Operand(",
		"of an operand only as much counts as the result is long"},
	{of("allReduceTwoLevel"), []string{"+ is -", "Slot is Chunk"}, "x.Refer(x.Scratch.Slot(",
		"of a place that is referred to only the beginning counts"},
	{of("allReduceTwoLevel"), []string{"+ is -", "Slot is Chunk"}, "x.Operand(",
		"of an operand only as much counts as the result is long"},
	{of("allGatherKBruck barrierKDissemination broadcastKNomial reduceKNomial gatherKNomial scatterKNomial " +
		"allReduceRecursiveMultiplying"),
		[]string{"radix is one more"}, "width := ", "it has as many bits"},
	{of("allGatherKBruck barrierKDissemination"), []string{"size is one more", "- is +"}, "levels := ",
		"a round more has no peers"},
	{of("allGatherKBruck barrierKDissemination"), []string{"levels is one more", "width is one more", "- is +", "/ is *"},
		"rounds := ", "the same"},
	{of("allGatherKBruck barrierKDissemination"), []string{"rounds is one more"}, "range rounds", "the same"},
	{of("broadcastKNomial"), []string{"size is one more", "- is +"}, "levels := ", "a level more has no children"},
	{of("broadcastKNomial"), []string{"levels is one more", "width is one more", "- is +"}, "rounds := ", "the same"},
	{of("reduceKNomial"), []string{"size is one more", "- is +"}, "levels := ",
		"in a level more the root has no children"},
	{of("reduceKNomial"), []string{"levels is one more", "width is one more", "- is +", "/ is *"}, "rounds := ",
		"the same"},
	{of("reduceKNomial"), []string{"rounds is one more"}, "range rounds", "the same"},
	{of("allReduceRecursiveMultiplying"), []string{"radix is one more"}, "x.Layout(1, ", "it has as many bits"},
	{of("gatherKNomial scatterKNomial"), []string{"radix is one more"}, "slots := ", "the same"},
	{of("gatherKNomial scatterKNomial"), []string{"1 is one more"}, "max(size-1, 1)",
		"of one rank and of two the tree has one level"},
	{of("gatherKNomial scatterKNomial"), []string{"size is one more", "- is +"}, "levels := ",
		"in a round more the root has no children, and copies its block again if it is alone"},
	{of("gatherKNomial scatterKNomial"), []string{"levels is one more", "width is one more", "- is +", "/ is *"},
		"rounds := ", "the same"},
	{of("gatherKNomial"), []string{"rounds is one more"}, "range rounds", "the same"},
	{of("allReduceRecursiveMultiplying"), []string{"Copy is Refer"}, "operand.Chunk(0))",
		"the reduction reads its operands before it writes"},
	{of("reduceKNomial"), []string{"Copy is Refer"}, "sofar.Chunk(0))", "what is referred to is read, and then replaced"},
	{of("allReduceTree"), []string{"levels is one more"}, "full := 1 << levels", "it is only compared with 0"},
	{of("allReduceTree"), []string{"full is one more"}, "full", "pad is 0 whatever it is"},
	{of("allReduceTree gatherBinomial reduceBinomial"), []string{"levels is one more"}, "for j := range levels {",
		"a level more has no ranks on its other side"},
	{of("allReduceTree"), []string{"other is one more", "j is one more"}, "theirs := min((other+1)<<j-pad, size) - from",
		"only its sign counts, which is that of size - from"},
	{of("allReduceTree"), []string{"j is one more", ">> is <<"}, "top := pad >> j", "pad is 0"},
	{of("allReduceTree"), []string{"half is one more"}, "if top == half {", "the leader of half 0 is rank 0 in any case"},
	{of("allReduceTree"), []string{"an assignment is left out"}, "leader = 0", "the same"},
	{of("allReduceTree"), []string{"other is one more"}, "if top == other {", "the same"},
	{of("allReduceTree"), []string{"an assignment is left out"}, "partner = 0", "the same"},
	{of("allReduceTree"), []string{"half is one more", "top is one more", "!= is <"},
		"if top == half || top != other && half < other {",
		"top is 0, so that half < other says it all"},
	{of("allReduceTree broadcastBinomial gatherBinomial reduceBinomial scatterBinomial"), []string{"other is one more"},
		"if top == half || top != other && half < other {", "half and other differ in a bit"},
	{of("allReduceTree"), []string{"partner is one more"}, "partner < rank)", "the partner that sends is the higher one"},
	{of("allToAllPairwise allToAllVPairwise"), []string{"t is one more", "rounds is one more"},
		"partner = (t + rounds*(t&1)) >> 1", "the sum is even, as rounds is odd"},
	{of("reduceChain"), []string{"Span is Chunk"}, "x.Finish(x.Out.Span(0, depth))",
		"of one rank the average is divided by 1"},
	{of("allToAllBruck"), []string{"size is one more"}, "for q := range size {",
		"what is copied behind the last slot is overwritten"},
	{of("allToAllBruck"), []string{"size is one more", "- is +"}, "rounds := bits.Len(uint(size - 1))",
		"a step more has nothing to send"},
	{of("allToAllBruck"), []string{"rounds is one more"}, "for k := range rounds {", "the same"},
	{of("allToAllBruck"), []string{"- is +", "size is one more", "distance is one more", "min is max"},
		"n := min(distance, size-first)",
		"what is gathered behind a run is overwritten by the next one, or not sent"},
	{of("allToAllBruck"), []string{"n is one more"}, "x.Copy(x.Scratch.Span(",
		"as much is copied as the shorter of two places has"},
	{of("reduceScatterHalving"), []string{"2 is one more"}, "x.Layout(1, min(size, 2*(size-1)))",
		"it is size, or 0 of one rank"},
	{of("reduceScatterRing"), []string{"c is one more"}, "if c < 0 {",
		"c counts in the first turn alone, and d is the same"},
	{of("reduceScatterRing"), []string{"an assignment is left out"}, "c += size", "the same"},
	{of("AllGather Gather ReduceScatter Scatter"), []string{"!= is <"}, "if len(buf) != size*count {",
		"the function with two buffers refuses it"},
	{of("broadcastBytes gatherBytes reduceBytes scatterBytes"), []string{"root is one more", "size is one more", ">= is >",
		"|| is &&"},
		"if root < 0 || root >= size {", "Do refuses it, in the same words"},
	{of("reduceChain reduceScatterGather reduceScatterRing reduceScatterVRing scanDoubling exscanDoubling"),
		[]string{"- is +"}, " - 1) & 1", "both are the other of two"},
	{of("scanDoubling exscanDoubling"), []string{"size is one more", "- is +"}, "ounds := bits.Len(uint(size - ",
		"no two ranks are as far from each other as those that a step more is for"},
	{of("scanDoubling"), []string{"rounds is one more"}, "for k := range rounds {", "the same"},
	{of("exscanDoubling"), []string{"restRounds is one more"}, "for restK := range restRounds {", "the same"},
	{of("exscanDoubling"), []string{"size is one more", "- is +", "<= is <"}, "if size-1 <= 1 {", "the same"},
	{of("exscanDoubling"), []string{"0 is one more", "an assignment is left out"}, "restRounds = 0", "the same"},
	{of("allGatherTwoLevel allReduceLeaders"), []string{"0 is one more", "< is <="}, "if collectFrom < 0 {",
		"the seat that receives is 0"},
	{of("allGatherTwoLevel allReduceLeaders"), []string{"local is one more", ">= is >"}, "if spreadTo >= local {",
		"from seat 0 the turns stay below local"},
	{of("allGatherTwoLevel allReduceLeaders"), []string{"local is one more", "-= is +=", "an assignment is left out"},
		"spreadTo -= local", "the same"},
	{of("allGatherTwoLevel"), []string{"+ is -"}, "x.Copy(x.Out.Chunk(host*local+seat)", "the seat is 0"},
	{of("barrierTwoLevel"), []string{"0 is one more", "< is <="}, "if enterFrom < 0 {", "the seat that receives is 0"},
	{of("barrierTwoLevel"), []string{"local is one more", ">= is >"}, "if leaveTo >= local {",
		"from seat 0 the turns stay below local"},
	{of("barrierTwoLevel"), []string{"local is one more", "-= is +=", "an assignment is left out"}, "leaveTo -= local",
		"the same"},
	{of("allReduceLeaders"), []string{"host is one more"}, "meetPlayer = host >> 1", "the host is even there"},
	{of("allReduceLeaders"), []string{"host is one more", "< is <="}, "meetPartner < host)",
		"a host is not its own partner"},
	{of("reduceTwoLevel"), []string{"host is one more", "< is <="}, "joinPartner < host)", "the same"},
	{of("broadcastTwoLevel"), []string{"hosts is one more", "1 is one more"}, "passLevels := ",
		"a level more has no hosts on its other side"},
	{of("reduceTwoLevel"), []string{"hosts is one more", "1 is one more"}, "joinLevels := ", "the same"},
	{of("reduceTwoLevel"), []string{"joinLevels is one more"}, "for joinJ := range joinLevels {", "the same"},
	{of("broadcastTwoLevel"), []string{"passOther is one more", "< is <="}, "passTop != passOther && passHalf < passOther",
		"half and other differ in a bit"},
	{of("reduceTwoLevel"), []string{"joinOther is one more", "< is <="}, "joinTop != joinOther && joinHalf < joinOther",
		"the same"},
	{of("reduceTwoLevel"), []string{"joinMine is one more", "1 is one more", "== is !="}, "if joinMine == 1 {",
		"a host that sends is not the root's: its sum is in scratch anyway"},
	{of("reduceTwoLevel"), []string{"an assignment is left out"}, "joinSofar = &x.Scratch", "the same"},
	{of("reduceScatterGather"), []string{"Slot is Chunk"}, "x.Finish(x.Scratch.Slot(size&1, rank))",
		"what is behind the chunk in its slot is not used"},
	{of("reduceScatterGather"), []string{"Slot is Chunk"}, "x.Copy(x.Out.Chunk(rank), x.Scratch.Slot(size&1, rank))",
		"as much is copied as the shorter of two places has"},
	{of("allGatherNeighbourExchange"), []string{"size is one more"}, "range size>>1 - 1 {", "size is even"},
	{of("allGatherNeighbourExchange"), []string{"after is one more"}, "if after >= size {", "both are even"},
	{of("allGatherNeighbourExchange"), []string{"ahead is one more"}, "if ahead >= size {", "the same"},
	{of("allGatherNeighbourExchange"), []string{"farther is one more"}, "if farther >= size {", "the same"},
	{of("allGatherNeighbourExchange"), []string{"back is one more"}, "if back < 0 {", "it is even"},
	{of("allGatherNeighbourExchange"), []string{"farback is one more"}, "if farback < 0 {", "the same"},
	{of("allGatherNeighbourExchange"), []string{"0 is one more", "< is <="}, "if before < 0 {", "it is odd"},
	{of("allReduceDoubleTree"), []string{"* is +", "Out is In", "Span is Chunk", "a call is left out"},
		"x.Finish(x.Out.Span(0, 2*pieces))", "of one rank the average is divided by 1"},
	{of("allReduceDoubleTree"), []string{"number is one more"}, "evelBit := number & -number", "it is even"},
	{of("allReduceDoubleTree"), []string{"number is one more"}, "if number&(2*levelBit) == 0", "the same"},
	{of("allReduceDoubleTree"), []string{"parentNumber is one more"}, "evelBit := parentNumber & -parentNumber",
		"the same"},
	{of("allReduceDoubleTree"), []string{"leafParentNumber is one more"},
		"evelBit := leafParentNumber & -leafParentNumber",
		"the same"},
	{of("allReduceDoubleTree"), []string{"2 is one more"}, "evelBit = 2 << top", "it has as many bits"},
	{of("allReduceDoubleTree"), []string{"<< is >>"}, "leafParentLevelBit = 2 << top",
		"number 0 is the parent of a leaf among two ranks alone"},
	{of("allReduceDoubleTree"), []string{"levelBit is one more"}, "level := bits.Len(uint(levelBit)", "it is even"},
	{of("allReduceDoubleTree"), []string{"parentLevelBit is one more"}, "evel := bits.Len(uint(parentLevelBit)",
		"the same"},
	{of("allReduceDoubleTree"), []string{"leafParentLevelBit is one more"}, "evel := bits.Len(uint(leafParentLevelBit)",
		"the same"},
	{of("allReduceDoubleTree"), []string{"pieces is one more", "2 is one more", "top is one more", "1 is one more"},
		"for s := range pieces + 2*top + 1 {", "a turn more has no pieces"},
	{of("allReduceDoubleTree"), []string{"pieces is one more", "top is one more"}, "for s := range pieces + top {",
		"the same"},
	{of("allReduceDoubleTree"), []string{"0 is one more"}, "number > 0", "it is even"},
	{of("allGatherSparbit"), []string{"size is one more", "- is +"}, "rounds := ", "a step more has no blocks"},
	{of("allGatherCirculant"), []string{"size is one more", "- is +"}, "rounds := ", "a step more brings no blocks"},
	{of("allGatherCirculant"), []string{"more is one more", "< is <="}, "if sent < more {",
		"the message would be empty"},
	{of("allGatherCirculant"), []string{"more is one more", "< is <="}, "if come < more {", "the same"},
	{of("allReduceSwing"), []string{"1 is one more"}, "thrice := ", "the lowest bit is shifted out"},
	{of("allReduceSwing"), []string{"+ is -"}, "number := ", "the bits that count are the same"},
	{of("allReduceSwing"), []string{"+ is -"}, "if (rank+bit)&1 != 0 {", "sum and difference are both even, or both odd"},
	{of("broadcastBinaryTree"), []string{"0 is one more"}, "place > 0 && place&1 == 0 {", "place is even there"},
	{of("broadcastCirculant"), []string{"place is one more", "0 is one more", "< is <="}, "if place < 0 {",
		"a place and one that is size more are of the same rank"},
	{of("broadcastCirculant"), []string{"0 is one more"}, "received := 0", "the last turn sets it"},
	{of("broadcastCirculant"), []string{"size is one more", ">= is >"}, "if other >= size {",
		"nothing is sent to the root"},
	{of("broadcastCirculant"), []string{"0 is one more"}, "own := 0", "the same"},
	{of("broadcastCirculant"), []string{"0 is one more"}, "at := 0", "the search comes to place 0 from the root alone"},
	{of("broadcastCirculant"), []string{"rounds is one more", "1 is one more"}, "Left := range rounds + 1 {",
		"in a turn more there is no rest"},
	{of("broadcastCirculant"), []string{"size is one more", "- is +", "k is one more", "1 is one more", ">> is <<"},
		"further := ", "places behind these count in later rounds alone"},
	{of("broadcastCirculant"), []string{"further is one more"}, "range further {", "the same"},
	{of("broadcastCirculant"), []string{"size is one more", "- is +"}, "reach := ",
		"one more makes no difference for any place among up to 64 ranks"},
	{of("broadcastCirculant"), []string{"0 is one more"}, "<= reach {", "the last two rounds reach as far back"},
	{of("broadcastCirculant"), []string{"0 is one more"}, "schedule, found, left =", "no round is left to be found"},
	{of("broadcastCirculant"), []string{"rounds is one more"}, "begin := ", "k is taken modulo rounds"},
}

func of(functions string) []string { return strings.Fields(functions) }

// excuses reports whether a mutant is one of them, and notes in used which it is.
func excuses(words string, used map[string]bool) bool {
	_, words, _ = strings.Cut(words, " ")
	parts := strings.SplitN(words, ": ", 3)
	i := slices.IndexFunc(equivalents, func(e equivalent) bool {
		return slices.Contains(e.functions, parts[0]) && slices.Contains(e.what, parts[1]) &&
			strings.Contains(parts[2], e.line)
	})
	if i < 0 {
		return false
	}
	used[fmt.Sprintf("%s: %s: %s", parts[0], parts[1], equivalents[i].line)] = true
	return true
}

// needless returns those of the equivalents that excuse nothing.
func needless(used map[string]bool) (all []string) {
	for _, e := range equivalents {
		for _, function := range e.functions {
			for _, what := range e.what {
				if name := fmt.Sprintf("%s: %s: %s", function, what, e.line); !used[name] {
					all = append(all, name)
				}
			}
		}
	}
	return all
}

// functionName returns the name of the function that is generated for a: "allReduceTwoShot".
func functionName(a *gen.Algorithm) string {
	name := strings.ToLower(a.Primitive.Name[:1]) + a.Primitive.Name[1:]
	for word := range strings.SplitSeq(a.DeclaredName(), "-") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// firstFault returns the first difference between the code and the schedules in the sample that make test compares.
func firstFault(t *testing.T, u subject) string {
	c, fault := u.compare(t, someCalls)
	if fault == "" && c.hollow() != "" {
		t.Fatalf("%s: %s", u.FullName(), c.hollow())
	}
	return fault
}
