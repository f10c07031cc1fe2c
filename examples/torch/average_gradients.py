"""Distributed synchronous SGD: every rank computes the gradients of its part of the data, and all-reduce averages them.

run and average_gradients are those of a tutorial. Here the data are the digits, and not MNIST.
"""

from math import ceil

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, Subset

import digits


def Net():
    return nn.Sequential(digits.network(), nn.LogSoftmax(dim=1))


def partition_dataset():
    train, _ = digits.load()
    size, rank = dist.get_world_size(), dist.get_rank()
    bsz = 128 // size
    part = Subset(train, range(rank, len(train) // size * size, size))
    return DataLoader(part, batch_size=bsz, shuffle=True), bsz


def average_gradients(model):
    """Gradient averaging."""
    size = float(dist.get_world_size())
    for param in model.parameters():
        dist.all_reduce(param.grad.data, op=dist.ReduceOp.SUM)
        param.grad.data /= size


def run(rank, size):
    """Distributed Synchronous SGD Example"""
    dist.init_process_group("collgen", rank=rank, world_size=size)
    torch.manual_seed(1234)
    train_set, bsz = partition_dataset()
    model = Net()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.5)

    num_batches = ceil(len(train_set.dataset) / float(bsz))
    for epoch in range(10):
        epoch_loss = 0.0
        for data, target in train_set:
            optimizer.zero_grad()
            output = model(data)
            loss = F.nll_loss(output, target)
            epoch_loss += loss.item()
            loss.backward()
            average_gradients(model)
            optimizer.step()
        print("Rank ", dist.get_rank(), ", epoch ", epoch, ": ", epoch_loss / num_batches)

    weights = model[0][0].weight.data
    first = weights.clone()
    dist.broadcast(first, src=0)
    if not torch.equal(weights, first):
        raise AssertionError("the models of the ranks differ")
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, args=(4,), nprocs=4, join=True)
