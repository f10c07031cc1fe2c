package main

import "strings"

// entrant is a library, how its adapter is built and started, and what is known of it.
type entrant struct {
	name       string
	compile    []string // without source and output
	source     string
	link       []string
	command    []string          // {adapter} is what was built
	without    []string          // what is left out, as colltest.Capabilities.Without has it
	primitives []string          // these alone; none: all
	known      map[string]string // by primitive: the section of docs/peers.md about what fails
}

// title is the name with what is left out.
func (e *entrant) title() string {
	if len(e.without) == 0 {
		return e.name
	}
	return e.name + " without " + strings.Join(e.without, ", ")
}

// The known failures, by their sections in docs/peers.md.
const (
	saturates    = "A1"
	unsignedMin  = "B1"
	inPlaceCrash = "B2"
	halfLost     = "C1"
	emptyCrash   = "C2"
	bcubeDrops   = "C3"
	ranksDiffer  = "C4"
)

var entrants = []entrant{
	openMPI().fails(saturates, "Reduce", "AllReduce", "ReduceScatter"),
	openMPI("overflow"),
	mpich().fails(unsignedMin, "Reduce", "AllReduce", "ReduceScatter"),
	mpich(unsigned...).fails(inPlaceCrash, "Reduce"),
	mpich(append([]string{"Reduce/in-place"}, unsigned...)...),
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
		command: []string{"env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_mpi_yield_when_idle=1",
			"mpirun.openmpi", "--oversubscribe", "-n", "{n}", "{adapter}"}}
}

func mpich(without ...string) entrant {
	return entrant{name: "MPICH", compile: []string{"mpicc.mpich", "-O2"}, source: "mpi.c", without: without,
		command: []string{"mpiexec.hydra", "-n", "{n}", "{adapter}"}}
}

// gloo is Gloo with one of its all-reduces.
func gloo(allReduce string, without ...string) entrant {
	return entrant{name: "Gloo " + allReduce, compile: []string{"g++", "-std=c++17", "-O2"}, source: "gloo.cc", link: []string{"-lgloo"},
		without: without, command: []string{"{adapter}", "{rank}", "{n}", "{dir}", allReduce}}
}

// only is e with these primitives alone.
func (e entrant) only(primitives ...string) entrant {
	e.primitives = primitives
	return e
}

// fails is e of which it is known that these primitives fail.
func (e entrant) fails(section string, primitives ...string) entrant {
	known := map[string]string{}
	for name, s := range e.known {
		known[name] = s
	}
	for _, name := range primitives {
		known[name] = section
	}
	e.known = known
	return e
}
