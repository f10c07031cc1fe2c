"""A rank of one that copies, for the words of the protocol besides "call"."""
from collgen_conform import Cannot, serve

class Copy:
    def __init__(self, c):
        self.c = c

    def start(self):
        print("a library prints this")

    def wait(self):
        self.c.output.bytes[:] = self.c.input.bytes

    def free(self):
        if self.c.batch:
            raise ValueError("still\nin a batch")

def broadcast(c):
    if c.type == "bool":
        raise Cannot("no bool")
    if c.comm == "lost" or c.tag == 13:
        raise RuntimeError(f"on {c.comm} with tag {c.tag}")
    if c.how != "call":
        return Copy(c)
    for to, at in zip(c.output.blocks(), c.input.blocks()):
        to[:] = at

comms = []
serve({"Broadcast apart displaced": broadcast}, rank=0, size=1, name="words", types="int16 bool",
      calls="start prepare batch split tags", split=lambda color, key: "lost" if color == "-" else f"{color}/{key}",
      free=lambda comm: comms.append(comm))
