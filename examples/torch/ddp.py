"""Trains a network that recognizes digits by DistributedDataParallel.

    torchrun --nproc-per-node 4 ddp.py
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

import digits


def main() -> None:
    torch.set_num_threads(1)
    dist.init_process_group("collgen")
    train, test = digits.load()
    model = DistributedDataParallel(digits.network())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.5)
    sampler = DistributedSampler(train)
    for epoch in range(10):
        sampler.set_epoch(epoch)
        for images, targets in DataLoader(train, batch_size=32, sampler=sampler):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), targets)
            loss.backward()
            optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total, op=dist.ReduceOp.AVG)
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: loss {total.item():.3f}, accuracy {digits.accuracy(model.module, test):.3f}")
    if digits.accuracy(model.module, test) < 0.9:
        raise AssertionError("the network has learned too little")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
