# Times PyTorch's matrix products on the shapes of a run's square GEMM cases, in the same minute, and prints both.
# Usage: beside_pytorch.py results.csv. Exits 1 where the run is more than 2 % slower than PyTorch anywhere.
# SPDX-License-Identifier: Apache-2.0
import csv
import re
import sys

import torch

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32, "tf32": torch.float32, "fp64": torch.float64}


def seconds(a, b, repeats=20):
    """The median of single products, by events on the device."""
    for _ in range(5):
        a @ b
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        a @ b
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1000)
    return sorted(times)[len(times) // 2]


def measured(path):
    """Precision and size to the best flops/s of the run."""
    best = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            name = re.fullmatch(r"gemm/(\w+)/square/(\d+)(/best)?", row["case"])
            wanted = row["metric"] == "flops_per_second" and row["status"] == "ok" and row["device"].endswith(":0")
            if name and wanted and name[1] in TYPES:
                key = (name[1], int(name[2]))
                best[key] = max(best.get(key, 0.0), float(row["value"]))
    return best


def main():
    slower = 0
    print(f"{'precision':10} {'size':>6} {'run':>10} {'PyTorch':>10}  run / PyTorch")
    for (precision, size), flops in sorted(measured(sys.argv[1]).items()):
        torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
        a = torch.randn(size, size, device="cuda").to(TYPES[precision])
        b = torch.randn(size, size, device="cuda").to(TYPES[precision])
        other = 2 * size**3 / seconds(a, b)
        slower += flops < 0.98 * other
        print(f"{precision:10} {size:6} {flops / 1e12:10.1f} {other / 1e12:10.1f}  {flops / other:.3f}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
