package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/collgen/collgen/verify/colltest"
)

// entrant is a library, how its adapter is built and started, and what is known of it.
type entrant struct {
	name       string
	compile    []string // without source and output
	source     string
	link       []string
	command    []string           // {adapter} is what was built
	without    []string           // what is left out, as colltest.Capabilities.Without has it
	primitives []string           // these alone; none: all
	known      map[string][]known // by primitive: what fails
}

// title returns the name with what is left out.
func (e *entrant) title() string {
	if len(e.without) == 0 {
		return e.name
	}
	return e.name + " without " + strings.Join(e.without, ", ")
}

// known is a failure that docs/lab/peers.md tells of.
type known struct {
	section string
	says    *regexp.Regexp // what a failure has to say to be this one
}

// The known failures.
var (
	saturates = known{"A1", regexp.MustCompile(
		`of u?int(8|16), .*op sum[\s\S]*element \d+ is (-128|127|255|-32768|32767|65535) `)}
	vectorNaN    = known{"A2", regexp.MustCompile(`op (min|max)[\s\S]*NaN.*of the same operands`)}
	unsignedMin  = known{"B1", regexp.MustCompile(`of uint\d+, .*op min[\s\S]*element \d+ is .*the reduction of`)}
	inPlaceCrash = known{"B2", regexp.MustCompile(
		`Reduce of .*, root [1-9]\d*, in place[\s\S]*(exit status 11|Segmentation fault)`)}
	nanRanks    = known{"B3", regexp.MustCompile(`AllReduce of .*, op (min|max)[\s\S]*though all ranks get the same bits.*NaN`)}
	nanPlace    = known{"B4", regexp.MustCompile(`op (min|max)[\s\S]*NaN.*of the same operands`)}
	halfLost    = known{"C1", regexp.MustCompile(`of float16, .*op [\s\S]*element \d+ is .*the reduction`)}
	emptyCrash  = known{"C2", regexp.MustCompile(`AllGather of .*blocks of 0 elements[\s\S]*floating point exception`)}
	bcubeDrops  = known{"C3", regexp.MustCompile(`^on ([3-9]|\d\d+) ranks[\s\S]*element \d+ is .*the reduction`)}
	ranksDiffer = known{"C4", regexp.MustCompile(
		`^on ([3-9]|\d\d+) ranks[\s\S]*of b?float\d+, .*op [\s\S]*though all ranks get the same bits`)}
)

var entrants = []entrant{
	openMPI().fails(saturates, "Reduce", "AllReduce", "ReduceScatter").
		fails(vectorNaN, "Reduce", "AllReduce", "ReduceScatter"),
	openMPI("overflow").fails(vectorNaN, "Reduce", "AllReduce", "ReduceScatter"),
	mpich().fails(unsignedMin, "Reduce", "AllReduce", "ReduceScatter").fails(inPlaceCrash, "Reduce").
		fails(nanRanks, "AllReduce").fails(nanPlace, "Reduce"),
	mpich(unsigned...).fails(inPlaceCrash, "Reduce").fails(nanRanks, "AllReduce").fails(nanPlace, "Reduce"),
	mpich(append([]string{"Reduce/in-place"}, unsigned...)...).fails(nanRanks, "AllReduce").fails(nanPlace, "Reduce"),
	gloo("new-ring").fails(halfLost, "Reduce", "AllReduce", "ReduceScatter").fails(emptyCrash, "AllGather"),
	gloo("new-ring", "float16", "empty"),
	gloo("new-bcube", "float16", "empty").only("AllReduce"),
	gloo("ring", "float16", "empty").only("AllReduce").fails(ranksDiffer, "AllReduce"),
	gloo("ring-chunked", "float16", "empty").only("AllReduce"),
	gloo("halving-doubling", "float16", "empty").only("AllReduce"),
	gloo("bcube", "float16", "empty").only("AllReduce").fails(bcubeDrops, "AllReduce"),
}

var unsigned = []string{"uint8", "uint16", "uint32", "uint64"}

func openMPI(without ...string) entrant {
	return entrant{name: "Open MPI", compile: []string{"mpicc.openmpi", "-O2"}, source: "mpi.c", without: without,
		command: []string{"env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
			"OMPI_MCA_mpi_yield_when_idle=1",
			"mpirun.openmpi", "--oversubscribe", "-n", "{n}", "{adapter}"}}
}

func mpich(without ...string) entrant {
	return entrant{name: "MPICH", compile: []string{"mpicc.mpich", "-O2"}, source: "mpi.c", without: without,
		command: []string{"mpiexec.hydra", "-n", "{n}", "{adapter}"}}
}

// gloo is Gloo with one of its all-reduces.
func gloo(allReduce string, without ...string) entrant {
	return entrant{name: "Gloo " + allReduce, compile: []string{"g++", "-std=c++17", "-O2"}, source: "gloo.cc",
		link:    []string{"-lgloo"},
		without: without, command: []string{"{adapter}", "{rank}", "{n}", "{dir}", allReduce}}
}

// only returns e with these primitives alone.
func (e entrant) only(primitives ...string) entrant {
	e.primitives = primitives
	return e
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
