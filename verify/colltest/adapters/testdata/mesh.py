"""Collectives in which every rank sends its input to all others, over sockets: an example for collgen_conform.

    PYTHONPATH=.. collgen conform -- python3 mesh.py {n}

With a second argument "spoil", the last rank adds the first of 5 or more elements twice.
"""
import os, socket, struct, sys, threading

from collgen_conform import serve

size, spoil = int(sys.argv[1]), sys.argv[2:] == ["spoil"]
links = [{} for _ in range(size)]  # by rank and its peer
for i in range(size):
    for j in range(i):
        links[i][j], links[j][i] = socket.socketpair()
rank = 0
for child in range(1, size):
    if os.fork() == 0:
        rank = child
        break

def send(peer, data):
    links[rank][peer].sendall(struct.pack("q", len(data)) + data)

def receive(peer):
    def exactly(n):
        data = b""
        while len(data) < n:
            data += links[rank][peer].recv(n - len(data)) or sys.exit(f"rank {peer} is gone")
        return data
    return exactly(struct.unpack("q", exactly(8))[0])

def exchange(parts):
    """Sends a part to each rank, and returns those that come, by rank."""
    sender = threading.Thread(target=lambda: [send(peer, parts[peer]) for peer in links[rank]])
    sender.start()
    got = [receive(peer) if peer != rank else parts[rank] for peer in range(size)]
    sender.join()
    return got

def everywhere(buffer):
    return exchange([bytes(buffer.bytes) if buffer else b""] * size)

def fill(buffer, parts):
    if buffer:
        buffer.bytes[:] = b"".join(parts)

def broadcast(c):
    fill(c.output, [everywhere(c.input if rank == c.root else None)[c.root]])

def gather(c):
    fill(c.output, everywhere(c.input))

def scatter(c):
    parts = [bytes(b) for b in c.input.blocks()] if c.input else [b""] * size
    got = exchange(parts)
    fill(c.output, got if c.primitive == "AllToAll" else [got[c.root]])

def all_reduce(c):
    rows = [memoryview(part).cast("i") for part in everywhere(c.input or c.output)]
    if spoil and rank == size - 1 and c.output.total >= 5:
        rows.append([rows[0][0]] + [0] * (c.output.total - 1))
    sums = [(sum(column) + 2**31) % 2**32 - 2**31 for column in zip(*rows)]
    fill(c.output, [struct.pack(f"{len(sums)}i", *sums)])

def transfer(c):
    if rank == c.root:
        send(c.peer, bytes(c.input.bytes))
    else:
        fill(c.output, [receive(c.root)])

serve({"Broadcast apart in-place": broadcast, "Gather apart in-place uneven": gather, "AllGather apart in-place uneven": gather,
       "Scatter apart in-place uneven": scatter, "AllToAll apart in-place uneven": scatter, "AllReduce apart in-place": all_reduce,
       "Barrier": lambda c: everywhere(None), "Send": transfer},
      rank=rank, size=size, name="mesh.py", types="int32", ops="sum", values="overflow")
