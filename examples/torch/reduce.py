"""Rank 0 gets the sum of the tensors of all ranks. Those of the others are as before.

The program is that of a tutorial, for tensors on the CPU: the backend is "collgen" and not "nccl", the device is "cpu".
"""

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def run_reduce(rank, world_size):
    dist.init_process_group("collgen", rank=rank, world_size=world_size)
    device = torch.device("cpu")
    tensor_size = 8  # elements of the tensor of each process
    dtype = torch.float32

    input_tensor = (torch.ones(tensor_size, dtype=dtype) * (rank + 1)).to(device)
    print(f"Rank {rank} before reduce: {input_tensor}")

    dist.reduce(input_tensor, dst=0, op=dist.ReduceOp.SUM)
    if rank == 0:
        print(f"Root Rank {rank} after reduce: {input_tensor}")
    else:
        print(f"Rank {rank} remains unchanged after reduce: {input_tensor}")

    dist.destroy_process_group()


def main():
    world_size = 4
    mp.spawn(run_reduce, args=(world_size,), nprocs=world_size, join=True)


if __name__ == "__main__":
    main()
