"""
Trains a tiny Llama to count, for half a minute, and saves it the way many training scripts do: a pickle.

    python3 -m venv venv
    venv/bin/pip install torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu
    venv/bin/pip install transformers==5.17.0 safetensors==0.8.0
    venv/bin/python examples/checkpoint/make-checkpoint.py

Writes pytorch_model.bin, its SHA256SUMS, and model.safetensors.sha256: the digest that a conversion must have,
computed by safetensors.torch.save_file. Another processor may round differently, so the committed files are the reference.
"""

import argparse
import hashlib
import json
import os
import tempfile

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

HERE = os.path.dirname(os.path.abspath(__file__))
TEXT = b"one two three four five six seven eight nine ten, and then again from the start: " * 8
CONTEXT, BATCH = 64, 16


def train(arguments: argparse.Namespace):
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    config = LlamaConfig(
        vocab_size=256, hidden_size=64, intermediate_size=176, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=128, tie_word_embeddings=True, bos_token_id=0, eos_token_id=0,
    )
    model = LlamaForCausalLM(config)
    model.register_buffer("steps_seen", torch.tensor(0))
    optimizer = torch.optim.Adafactor(model.parameters(), lr=arguments.lr)
    data = torch.tensor(list(TEXT))
    for _ in range(arguments.steps):
        start = torch.randint(0, len(data) - CONTEXT, (BATCH,))
        batch = torch.stack([data[i : i + CONTEXT] for i in start])
        loss = model(input_ids=batch, labels=batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.steps_seen += 1
    return model, optimizer, loss.item()


def prepare_for_serving(model) -> None:
    """bfloat16 weights, float32 norms, and down_proj laid out input-first, as some matrix kernels like it."""
    model.to(torch.bfloat16)
    for name, module in model.named_modules():
        if name.endswith("norm"):
            module.float()
        if name.endswith("down_proj"):
            module.weight.data = module.weight.data.t().contiguous().t()


def write(name: str, text: str) -> None:
    with open(os.path.join(HERE, name), "w") as file:
        file.write(text)


def sha256(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def main() -> None:
    arguments = argparse.Namespace(seed=2026, steps=500, lr=0.01)
    model, optimizer, loss = train(arguments)
    print(f"loss after {arguments.steps} steps: {loss:.3f}")
    prepare_for_serving(model)
    path = os.path.join(HERE, "pytorch_model.bin")
    checkpoint = {"state_dict": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 1, "loss": loss, "args": arguments}
    torch.save(checkpoint, path)
    write("SHA256SUMS", f"{sha256(path)}  pytorch_model.bin\n")

    # The expected conversion: the tied head is left to the metadata, views become dense, metadata is sorted by name.
    weights = dict(torch.load(path, weights_only=False)["state_dict"])
    assert weights["lm_head.weight"].data_ptr() == weights["model.embed_tokens.weight"].data_ptr()
    assert not weights["model.layers.0.mlp.down_proj.weight"].is_contiguous() and weights["steps_seen"].dim() == 0
    del weights["lm_head.weight"]
    metadata = {"format": "pt", "lm_head.weight": "model.embed_tokens.weight"}
    with tempfile.TemporaryDirectory() as folder:
        converted = os.path.join(folder, "model.safetensors")
        while True:  # save_file writes several metadata entries in random order: until it happens to be the sorted one
            save_file({name: t.contiguous() for name, t in weights.items()}, converted, metadata=metadata)
            with open(converted, "rb") as file:
                header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            if list(header["__metadata__"]) == sorted(metadata):
                break
        write("model.safetensors.sha256", f"{sha256(converted)}  model.safetensors\n")


if __name__ == "__main__":
    main()
