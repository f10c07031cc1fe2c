"""The collectives of MPI, called through mpi4py by collgen conform:

    collgen conform -- mpirun -n {n} python3 mpi4py_adapter.py [start] [batch] [prepare] [split] [tags] [displaced]

The words are what is offered besides calls. Calls that are started are such as MPI_Iallreduce; prepared ones are persistent, such
as that of MPI_Allreduce_init. Where MPI means something else than collgen, this program makes up for it: MPI_Bcast has one buffer,
and MPI_Reduce_scatter in place leaves its result at the beginning of its only one.
"""
import sys

import collgen_conform
from mpi4py import MPI

TYPES = {"int8": MPI.INT8_T, "int16": MPI.INT16_T, "int32": MPI.INT32_T, "int64": MPI.INT64_T, "uint8": MPI.UINT8_T,
         "uint16": MPI.UINT16_T, "uint32": MPI.UINT32_T, "uint64": MPI.UINT64_T, "float32": MPI.FLOAT, "float64": MPI.DOUBLE,
         "complex64": MPI.C_FLOAT_COMPLEX, "complex128": MPI.C_DOUBLE_COMPLEX, "bool": MPI.C_BOOL}
OPS = {name: getattr(MPI, name.upper()) for name in "sum prod min max band bor bxor land lor".split()}
WORLD = MPI.COMM_WORLD
DISPLACED = " displaced" * ("displaced" in sys.argv)  # V functions take blocks with gaps between them

class Work:
    """A request, with the bytes that are copied before it begins and after it has ended: pairs of target and source, or none."""
    def __init__(self, before, after):
        self.before, self.after, self.request = before, after, MPI.REQUEST_NULL

    def copy(self, pair):
        if pair: pair[0][:] = pair[1]

    def start(self):
        self.copy(self.before)
        self.request.Start()

    def wait(self):
        self.request.Wait()
        self.copy(self.after)

    def free(self):
        self.request.Free()

def make(c, name, *args, before=None, after=None):
    """Makes, starts or prepares a call of the communicator's method with that name."""
    method = {"call": name, "start": "I" + name.lower(), "prepare": name + "_init"}[c.how]
    if not hasattr(WORLD, method): raise collgen_conform.Cannot(f"there is no {method}")
    work = Work(before, after)
    if c.how != "prepare": work.copy(before)
    work.request = getattr(c.comm or WORLD, method)(*args) or MPI.REQUEST_NULL
    if c.how == "call": work.wait()
    return work

def is_root(c): return (c.comm or WORLD).rank == c.root
def v(c, name): return name + "v" * c.uneven
def some(c, b, blocks=False): return b and [b.bytes] + [(b.counts, b.starts)] * (blocks and c.uneven) + [TYPES[c.type]]
def own(c, b, at=True, blocks=False): return MPI.IN_PLACE if c.in_place and at else some(c, b, blocks)

def broadcast(c):
    before = (c.output.bytes, c.input.bytes) if c.input and not c.in_place else None
    return make(c, "Bcast", some(c, c.output), c.root, before=before)

def reduce_scatter(c):
    name, counts = ("Reduce_scatter", [c.input.counts]) if c.uneven else ("Reduce_scatter_block", [])
    if not c.in_place: return make(c, name, some(c, c.input), some(c, c.output), *counts, OPS[c.op])
    memory = bytearray(c.input.bytes)
    return make(c, name, MPI.IN_PLACE, [memory, TYPES[c.type]], *counts, OPS[c.op],
                before=(memory, c.input.bytes), after=(c.output.bytes, memoryview(memory)[:len(c.output.bytes)]))

def send(c):
    if is_root(c): return make(c, "Send", some(c, c.input), c.peer, c.tag)
    return make(c, "Recv", some(c, c.output), c.root, c.tag)

collgen_conform.serve({
    "Broadcast apart in-place": broadcast, "ReduceScatter apart in-place uneven": reduce_scatter, "Send": send,
    "Gather apart in-place uneven" + DISPLACED:
        lambda c: make(c, v(c, "Gather"), own(c, c.input, is_root(c)), some(c, c.output, True), c.root),
    "Scatter apart in-place uneven" + DISPLACED:
        lambda c: make(c, v(c, "Scatter"), some(c, c.input, True), own(c, c.output, is_root(c)), c.root),
    "AllGather apart in-place uneven" + DISPLACED: lambda c: make(c, v(c, "Allgather"), own(c, c.input), some(c, c.output, True)),
    "AllToAll apart in-place uneven" + DISPLACED:
        lambda c: make(c, v(c, "Alltoall"), own(c, c.input, True, True), some(c, c.output, True)),
    "Reduce apart in-place": lambda c: make(c, "Reduce", own(c, c.input, is_root(c)), some(c, c.output), OPS[c.op], c.root),
    "AllReduce apart in-place": lambda c: make(c, "Allreduce", own(c, c.input), some(c, c.output), OPS[c.op]),
    "Barrier": lambda c: make(c, "Barrier"),
}, rank=WORLD.rank, size=WORLD.size, name="mpi4py, " + MPI.Get_library_version().split("\n")[0].strip("\0"), types=" ".join(TYPES),
    ops=" ".join(OPS), values="overflow", calls=" ".join(word for word in sys.argv[1:] if word != "displaced"),
    split=lambda color, key: WORLD.Split(MPI.UNDEFINED if color == "-" else int(color), key), free=lambda comm: comm.Free())
