"""Trains a network that recognizes digits by FSDP2: each rank keeps its part of all parameters.

    torchrun --nproc-per-node 4 fsdp2.py
"""

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint
from torch import nn
from torch.distributed.checkpoint.state_dict import get_model_state_dict, set_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler

import digits
import tempfile


def sharded(mesh) -> nn.Module:
    model = digits.network()
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def main() -> None:
    torch.set_num_threads(1)
    dist.init_process_group("collgen")
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    train, test = digits.load()
    model = sharded(mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.5)
    sampler = DistributedSampler(train)
    for epoch in range(10):
        sampler.set_epoch(epoch)
        for images, targets in DataLoader(train, batch_size=32, sampler=sampler):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), targets)
            loss.backward()
            optimizer.step()
        reached = digits.accuracy(model, test)
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: accuracy {reached:.3f}")
    if reached < 0.9:
        raise AssertionError("the network has learned too little")

    # Write a checkpoint, and read it into another network.
    folder = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(folder)
    checkpoint.save(get_model_state_dict(model), checkpoint_id=folder[0])
    other = sharded(mesh)
    state = get_model_state_dict(other)
    checkpoint.load(state, checkpoint_id=folder[0])
    set_model_state_dict(other, state)
    if digits.accuracy(other, test) != reached:
        raise AssertionError("the network of the checkpoint is another one")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
