"""The data that the examples train on: handwritten digits, of examples/digits."""

import gzip
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import TensorDataset

FILE = Path(__file__).resolve().parent.parent / "digits" / "digits.csv.gz"


def load() -> tuple[TensorDataset, TensorDataset]:
    """Returns images to train on and images to test, the same on every rank: 64 pixels from 0 to 1, and the digit."""
    with gzip.open(FILE, "rt") as lines:
        table = torch.tensor([[int(field) for field in line.split(",")] for line in lines])
    table = table[torch.randperm(len(table), generator=torch.Generator().manual_seed(1))]
    images, digits = table[:, :64].float() / 16, table[:, 64]
    n = len(table) * 4 // 5
    return TensorDataset(images[:n], digits[:n]), TensorDataset(images[n:], digits[n:])


def network() -> nn.Sequential:
    """Returns a network that was not trained, the same on every rank."""
    torch.manual_seed(1234)
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def accuracy(model: nn.Module, test: TensorDataset) -> float:
    """Returns the part of the test images that the model recognizes."""
    images, digits = test.tensors
    with torch.no_grad():
        return (model(images).argmax(1) == digits).float().mean().item()
