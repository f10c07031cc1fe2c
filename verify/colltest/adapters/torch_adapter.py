"""The collectives of torch.distributed, called by collgen conform. All ranks are forked from one process, which imports torch:

    collgen conform -- python3 torch_adapter.py {n} --backend gloo

Under torchrun it is one rank: collgen conform -- torchrun --nproc-per-node {n} torch_adapter.py {n}

Where torch means something else than collgen, this program makes up for it, but for what --as-is names:

    reduce      dist.reduce also changes the input of ranks that are not the destination. They reduce a copy.
    all-to-all  torch does not say that input and output may be the same. In place, the input is copied.
    types       a type that torch does not support is an error. It counts as not tested.
"""
import argparse, datetime, os, signal, sys, tempfile

import collgen_conform
import torch
import torch.distributed as dist

TYPES = {name: getattr(torch, name) for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 "
         "float64 complex64 complex128 bool".split()} | {"float8e4m3": torch.float8_e4m3fn, "float8e5m2": torch.float8_e5m2}
OPS = {"sum": "SUM", "prod": "PRODUCT", "min": "MIN", "max": "MAX", "avg": "AVG", "band": "BAND", "bor": "BOR", "bxor": "BXOR"}
UNSUPPORTED = "Invalid scalar type", "does not support", "can't be cast", "Cannot use ReduceOp", "not implemented for", "type for"

parser = argparse.ArgumentParser()
parser.add_argument("size", type=int)
parser.add_argument("--backend", default="gloo")
parser.add_argument("--device", default="cpu", help="where tensors are: cpu or cuda")
parser.add_argument("--as-is", nargs="*", default=[], choices=["reduce", "all-to-all", "types"])
parser.add_argument("--calls", nargs="*", default=[], choices=["start", "batch", "split", "tags"], help="what is offered besides")
options = parser.parse_args()

class Work:
    """A call of torch on the tensors of c, which may be on another device than the memory."""
    def __init__(self, c):
        self.c, self.host = c, torch.frombuffer(c.memory, dtype=torch.uint8)
        self.memory = self.host.to(options.device)
        self.input, self.output = self.tensor(c.input), self.tensor(c.output)
        self.works = []

    def tensor(self, buffer):
        if buffer:
            return self.memory[buffer.at:buffer.at + len(buffer.bytes)].view(TYPES[self.c.type])

    def wait(self):
        try:
            for work in self.works:
                work.wait()
        except Exception as e:
            raise explained(e)
        self.host.copy_(self.memory)

def explained(e):
    """Returns e, or a Cannot if it says that torch does not support the call."""
    is_type = "types" not in options.as_is and any(text in str(e) for text in UNSUPPORTED)
    return collgen_conform.Cannot(" ".join(str(e).split())) if is_type else e

def function(make):
    """Returns a function for collgen_conform; make returns the work of torch, None if it is done."""
    def call(c):
        work = Work(c)
        try:
            begun = make(c, work.input, work.output, {"group": c.comm, "async_op": c.how == "start"})
            if c.batch == 1: end_batch()
        except Exception as e:
            raise explained(e)
        work.works = begun if isinstance(begun, list) else [begun] if begun else []
        if c.how == "start":
            return work
        work.wait()
    return call

def is_root(c): return dist.get_rank(c.comm) == c.root
def op(c): return getattr(dist.ReduceOp, OPS[c.op])
def blocks(tensor, buffer): return list(torch.split(tensor, buffer.counts)) if buffer else None

def broadcast(c, i, o, how):
    if is_root(c) and not c.in_place: o.copy_(i)
    return dist.broadcast(o, group_src=c.root, **how)

def reduce(c, i, o, how):
    if is_root(c) and not c.in_place: o.copy_(i)
    tensor = o if is_root(c) else i if "reduce" in options.as_is else i.clone()
    return dist.reduce(tensor, group_dst=c.root, op=op(c), **how)

def all_reduce(c, i, o, how):
    if not c.in_place: o.copy_(i)
    return dist.all_reduce(o, op(c), **how)

def reduce_scatter(c, i, o, how):
    if c.uneven: return dist.reduce_scatter(o, blocks(i, c.input), op(c), **how)
    return dist.reduce_scatter_tensor(o, i, op(c), **how)

def all_to_all(c, i, o, how):
    if c.in_place and "all-to-all" not in options.as_is: i = i.clone()
    splits = (c.output.counts, c.input.counts) if c.uneven else ()
    return dist.all_to_all_single(o, i, *splits, **how)

pending = []  # sends and receives of a batch that has not ended, each with the list of its works

def send(c, i, o, how):
    """Sends or receives."""
    tensor, torch_peer, begin = (i, {"group_dst": c.peer}, dist.isend) if is_root(c) else (o, {"group_src": c.root}, dist.irecv)
    if not c.batch:
        if c.how == "call": begin = dist.send if is_root(c) else dist.recv
        begun = begin(tensor, group=c.comm, tag=c.tag, **torch_peer)
        return begun if c.how == "start" else None
    works, (peer,) = [], torch_peer.values()
    pending.append((dist.P2POp(begin, tensor, group=c.comm, tag=c.tag, group_peer=peer), works))
    return works

def end_batch():
    """Begins what is pending. Some backends return a work for each, others one for all."""
    begun = dist.batch_isend_irecv([p2p for p2p, _ in pending]) if pending else []
    for number, (_, works) in enumerate(pending):
        works.append(begun[min(number, len(begun) - 1)])
    pending.clear()

def split(color, key):
    """Returns the group of the ranks with this color, in the order of their keys. All ranks make all groups."""
    all = [None] * options.size
    dist.all_gather_object(all, (color, key))
    for each in sorted({c for c, _ in all} - {"-"}):
        ranks = sorted((k, r) for r, (c, k) in enumerate(all) if c == each)
        group = dist.new_group([r for _, r in ranks], sort_ranks=False)
        if each == color: mine = group
    return mine if color != "-" else None

FUNCTIONS = {
    "Broadcast apart in-place": broadcast, "Reduce apart in-place": reduce, "AllReduce apart in-place": all_reduce,
    "ReduceScatter apart in-place uneven": reduce_scatter, "AllToAll apart in-place uneven": all_to_all, "Send": send,
    "AllGather apart in-place": lambda c, i, o, how: dist.all_gather_into_tensor(o, i, **how),
    "Gather apart in-place": lambda c, i, o, how: dist.gather(i, blocks(o, c.output), group_dst=c.root, **how),
    "Scatter apart in-place": lambda c, i, o, how: dist.scatter(o, blocks(i, c.input), group_src=c.root, **how),
    "Barrier": lambda c, i, o, how: dist.barrier(**how),
}

def run(rank, **init):
    dist.init_process_group(options.backend, rank=rank, timeout=datetime.timedelta(minutes=5), **init)
    torch.set_num_threads(1)
    if options.device == "cuda": torch.cuda.set_device(rank % torch.cuda.device_count())
    as_is = f", {' '.join(options.as_is)} as is" if options.as_is else ""
    collgen_conform.serve({name: function(make) for name, make in FUNCTIONS.items()}, rank=rank, size=options.size,
                          name=f"torch {torch.__version__} {options.backend}{as_is}", types=" ".join(TYPES), ops=" ".join(OPS),
                          values="overflow", calls=" ".join(options.calls), split=split, free=dist.destroy_process_group)
    sys.stdout.flush()
    os._exit(0)  # without waiting for torch's threads

if "RANK" in os.environ:
    run(int(os.environ["RANK"]))
signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
with tempfile.TemporaryDirectory() as folder:
    for rank in range(options.size):
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            run(rank, world_size=options.size, init_method=f"file://{folder}/store")
    for _ in range(options.size):
        _, status = os.wait()
        if status:
            sys.exit(f"a rank has ended: {os.waitstatus_to_exitcode(status)}")
