"""Times the collectives of torch.distributed. See measure.h for the method and the arguments, and gloo.go for the start:
RANKS and BACKEND are in the environment. All ranks are forked from one process, which imports torch.
"""
import json, os, statistics, sys, tempfile, time

import torch
import torch.distributed as dist

BATCHED_BYTES, BATCH_SECONDS, LEAST_BATCHES = 32 << 10, 1e-3, 11
DIVIDED = "all-gather", "all-to-all", "reduce-scatter"
SIZE, BACKEND = int(os.environ["RANKS"]), os.environ["BACKEND"]

def number(text):
    return int(text[:-1]) << {"K": 10, "M": 20, "G": 30}[text[-1]] if text[-1] in "KMG" else int(text)

def parse(words):
    """Returns the options, and the collective as option 0."""
    options = {"-b": "8", "-e": "8", "-f": "2", "-n": "20", "-w": "5"}
    options |= zip(words[1::2], words[2::2], strict=True)
    if unknown := options.keys() - set("-b -e -f -n -w -transport -two-buffers -spoil -per-core".split()):
        sys.exit(f"unknown option {unknown}")
    return {0: words[0]} | options

class Call:
    """A collective, with its buffers: of so many elements is the larger one."""
    def __init__(self, rank, collective, count, two_buffers):
        if (collective in DIVIDED) != two_buffers: sys.exit("torch has no such form of that collective")
        self.rank, self.collective, self.count, self.block = rank, collective, count, count // SIZE
        self.operand = torch.zeros(count)
        own, result = self.operand[rank * self.block:][:self.block], torch.zeros(count) if two_buffers else self.operand
        self.result = result[:self.block] if collective == "reduce-scatter" else result
        self.invoke = {
            "all-reduce": lambda: dist.all_reduce(self.operand),
            "broadcast": lambda: dist.broadcast(self.operand, src=0),
            "all-gather": lambda: dist.all_gather_into_tensor(self.result, own),
            "all-to-all": lambda: dist.all_to_all_single(self.result, self.operand),
            "reduce-scatter": lambda: dist.reduce_scatter_tensor(self.result, self.operand),
            "barrier": dist.barrier,
        }[collective]

    def rewrite(self, i):
        """Gives the operand new contents, so that no call finds its data where the call before left it."""
        self.operand.fill_(i & 15)

    def expected(self):
        """Returns the right result of check."""
        index = torch.arange(self.count)
        pattern = [(index * 7 + r * 13) % 31 + 1 for r in range(SIZE)]
        blocks = [slice(r * self.block, (r + 1) * self.block) for r in range(SIZE)]
        return {
            "all-reduce": lambda: sum(pattern),
            "reduce-scatter": lambda: sum(pattern)[blocks[self.rank]],
            "all-gather": lambda: torch.cat([p[b] for p, b in zip(pattern, blocks)]),
            "all-to-all": lambda: torch.cat([p[blocks[self.rank]] for p in pattern]),
        }.get(self.collective, lambda: pattern[0])().float()

    def check(self, spoil):
        """Makes a call and returns how many elements of all ranks are wrong after it."""
        self.operand.copy_((torch.arange(self.count) * 7 + self.rank * 13) % 31 + 1)
        self.invoke()
        if spoil and self.rank == SIZE - 1 and self.count: self.result[len(self.result) // 2] += 1
        return int(total([(self.result != self.expected()).sum().item()])[0])

def total(values):
    """Returns the sums over all ranks."""
    sums = torch.tensor(values, dtype=torch.float64)
    dist.all_reduce(sums)
    return sums.tolist()

def run_batch(call, calls):
    dist.barrier()
    start = time.perf_counter()
    for i in range(calls):
        call.rewrite(i)
        call.invoke()
    return time.perf_counter() - start

def run_rewrites(call, calls):
    start = time.perf_counter()
    for i in range(calls): call.rewrite(i)
    return time.perf_counter() - start

def long_enough(call):
    """Returns how many calls make a batch, the same number on all ranks."""
    calls = 8
    while total([run_batch(call, calls)])[0] < BATCH_SECONDS * SIZE: calls *= 2
    return calls

def one_by_one(call):
    dist.barrier()
    start = time.perf_counter()
    call.invoke()
    return time.perf_counter() - start

def times(call, repeat):
    """Returns the time of each call, or the mean time of a call in each batch."""
    if call.count * 4 <= BATCHED_BYTES:
        calls = long_enough(call)
        return [(run_batch(call, calls) - run_rewrites(call, calls)) / calls for _ in range(max(repeat, LEAST_BATCHES))]
    taken = []
    for i in range(repeat):
        call.rewrite(i)
        taken.append(one_by_one(call))
    return taken

def measure(rank, options, size):
    """Prints a line for a size."""
    collective, two_buffers = options[0], "-two-buffers" in options
    blocks = SIZE if collective in DIVIDED else 1
    count = 0 if collective == "barrier" else max(size // 4 // blocks, 1) * blocks
    call = Call(rank, collective, count, two_buffers)
    for i in range(int(options["-w"])):
        call.rewrite(i)
        call.invoke()
    median = statistics.median(total(times(call, int(options["-n"])))) / SIZE * 1e6
    wrong = call.check("-spoil" in options)
    if rank == 0:
        print(json.dumps({"collective": collective, "ranks": SIZE, "bytes": 4 * count, "inPlace": not two_buffers,
                          "registered": False, "microseconds": {"median": median}, "wrong": wrong}), flush=True)

def run(rank, options, folder):
    """Measures all sizes as one rank."""
    if "-per-core" in options:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[rank % len(cores)]})
    torch.set_num_threads(1)  # more would wait for operands to rewrite, on the cores of the ranks
    dist.init_process_group(BACKEND, rank=rank, world_size=SIZE, init_method=f"file://{folder}/store")
    size = number(options["-b"])
    while size <= number(options["-e"]):
        measure(rank, options, size)
        size *= number(options["-f"])
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)  # without waiting for torch's threads

def main():
    options = parse(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        for rank in range(SIZE):
            if os.fork() == 0: run(rank, options, folder)
        for _ in range(SIZE):
            _, status = os.wait()
            if status: sys.exit(f"a rank has ended: {os.waitstatus_to_exitcode(status)}")

main()
