"""Every rank gets its part of the sum of the tensors of all ranks.

The program is that of a tutorial, for tensors on the CPU: the backend is "collgen" and not "nccl", the device is "cpu".
"""

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def run_reduce_scatter(rank, world_size):
    dist.init_process_group("collgen", rank=rank, world_size=world_size)
    device = torch.device("cpu")
    tensor_size = 8  # elements of the tensor of each process
    dtype = torch.float32

    input_tensor = (torch.ones(tensor_size, dtype=dtype) * (rank + 1)).to(device)
    print(f"Rank {rank} before reduce_scatter: {input_tensor}")

    output_tensor = torch.empty(tensor_size // world_size, dtype=dtype).to(device)
    dist.reduce_scatter(output_tensor, [input_tensor], op=dist.ReduceOp.SUM)
    print(f"Rank {rank} after reduce_scatter: {output_tensor}")

    dist.destroy_process_group()


def main():
    world_size = 4
    mp.spawn(run_reduce_scatter, args=(world_size,), nprocs=world_size, join=True)


if __name__ == "__main__":
    main()
