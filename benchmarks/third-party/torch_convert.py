"""The rival of a conversion: torch.load(mmap=True) and save_file, as a person would write it."""
import sys

import torch
from safetensors.torch import save_file

state = torch.load(sys.argv[1], mmap=True, weights_only=True, map_location="cpu")
save_file(dict(state), sys.argv[2], metadata={"format": "pt"})
