"""A rank's side of the line protocol of collgen conform (docs/conform.md), made of one function for each primitive:

    serve({"Broadcast apart in-place": broadcast, "Barrier": barrier}, rank=0, size=4, name="mine", types="int32 float32")

A key is a primitive and its forms; none: "apart". A function gets a Call and makes this rank's part of it. Its exception is
the answer "error", or "cannot" if it is a Cannot. With calls="start", c.how may be "start": the function begins the call, and
returns an object with wait(). With calls="prepare", c.how may be "prepare", and the object has start(), wait() and free(). With
calls="batch", c.batch counts the calls of a batch that follow, this one included.
"""
import mmap, os, re, socket, sys

_output = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print must not get between the answers

class Cannot(Exception):
    """Says that the library does not support a call. All ranks have to say so."""

class Buffer:
    """Blocks of elements. bytes is a memoryview of all, from byte at of the memory; starts and counts are in elements."""
    def __init__(self, memory, at, blocks, width):
        self.at, self.counts, self.starts, self.width, end = at, [], [], width, 0
        for count, _, start in (block.partition("@") for block in blocks.split(",")):
            self.counts.append(int(count))
            self.starts.append(int(start or end))
            end = self.starts[-1] + self.counts[-1]
        self.total, end = sum(self.counts), max(map(sum, zip(self.starts, self.counts)))
        self.bytes = memory[at:at + end * width]

    def blocks(self):
        """Returns a memoryview of each block."""
        return [self.bytes[s * self.width:(s + n) * self.width] for s, n in zip(self.starts, self.counts)]

class Call:
    """One rank's part of a call: primitive, type, op ("-": none), root, peer, in_place, uneven. input and output are Buffers,
    None if the rank does not pass them. comm is what split has returned, None for all ranks. tag is that of a Send."""
    def __init__(self, how, rank, words):
        self.how, self.comm, self.tag, self.batch = how, rank.comms[rank.current], rank.next_tag, rank.left
        self.primitive, self.type, self.op, root, peer, form, even, in_at, ins, out_at, outs, size, digits = words
        self.root, self.peer, self.in_place, self.uneven = int(root), int(peer), form == "in-place", even == "uneven"
        width = 1 if self.type.startswith(("bool", "float8")) else int(re.sub(r"\D", "", self.type)) // 8
        self.memory = memoryview(mmap.mmap(-1, int(size) or 1))[:int(size)]  # at the beginning of a page
        self.memory[:] = bytes.fromhex(digits)
        self.input = None if ins == "-" else Buffer(self.memory, int(in_at), ins, width)
        self.output = None if outs == "-" else Buffer(self.memory, int(out_at), outs, width)

class _Rank:
    """Has a method for each word of the protocol, which returns the answer."""
    def __init__(self, functions, split, free):
        self.functions, self.make_split, self.make_free = {key.split()[0]: f for key, f in functions.items()}, split, free
        self.comms, self.current, self.next_tag, self.left, self.works = {"0": None}, "0", 0, 0, {}

    def call(self, *words):
        self.start("now", *words, how="call")
        return "done " + self.works.pop("now")[0].memory.hex()

    def start(self, id, *words, how="start"):
        c, self.left = Call(how, self, words), max(0, self.left - 1)
        self.works[id] = c, self.functions[c.primitive](c)
        return "started" if how == "start" else "prepared"

    def wait(self, id):
        c, work = self.works[id] if self.works[id][0].how == "prepare" else self.works.pop(id)
        work.wait()
        return "done " + c.memory.hex()

    def begin(self, id, digits):
        self.works[id][0].memory[:] = bytes.fromhex(digits)
        self.works[id][1].start()
        return "started"

    def prepare(self, id, *words): return self.start(id, *words, how="prepare")
    def drop(self, id): return self.works.pop(id)[1].free() or "dropped"
    def split(self, id, color, key): self.comms[id] = self.make_split(color, int(key)); return "split"
    def free(self, id): return self.make_free(self.comms.pop(id)) or "freed"
    def comm(self, id): self.current = id
    def tag(self, n): self.next_tag = int(n)
    def batch(self, n): self.left = int(n)

def serve(functions, *, rank, size, name, types, ops="", values="", calls="", split=None, free=None):
    """Makes calls until there are no more. types, ops, values and calls are words of the protocol. split gets a color ("-": this
    rank gets no communicator) and a key, and returns a communicator; free gets it back."""
    lines, out = sys.stdin, _output
    if "COLLGEN_CONFORM" in os.environ:
        s = socket.socket(socket.AF_UNIX)
        s.connect(os.environ["COLLGEN_CONFORM"])
        lines, out = s.makefile("r"), s.makefile("w")
    hello = ["collgen-conform 1", f"rank {rank} of {size}", f"name {name}", f"types {types}", f"ops {ops}", f"values {values}"]
    hello += [f"calls {calls}"] * bool(calls) + [f"primitive {key if ' ' in key else key + ' apart'}" for key in functions]
    print(*hello, "ready", sep="\n", file=out, flush=True)
    r = _Rank(functions, split, free)
    for line in lines:
        word, *words = line.rstrip("\n").split(" ")
        if word == "end":
            break
        try:
            answer = getattr(r, word)(*words)
        except Exception as e:
            answer = f"cannot {e}" if isinstance(e, Cannot) else "error " + " ".join(f"{type(e).__name__}: {e}".split())[:1000]
        if answer:
            print(answer, file=out, flush=True)
