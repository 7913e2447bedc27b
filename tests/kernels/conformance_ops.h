// The ops that every back end must get right, by kind: all formats, and sizes that leave tails.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace assay::conformance {

inline const std::vector<std::string>& float_formats() {
  static const std::vector<std::string> formats = {"fp32", "bf16", "fp16"};
  return formats;
}

inline std::vector<std::string> streams() {
  std::vector<std::string> ops;
  for (const char* kind : {"copy", "scale", "add", "triad", "read", "write"}) {
    for (const char* format : {"fp32", "fp64", "bf16", "fp16"}) {
      for (const char* store : {"plain", "nontemporal"}) {
        for (const char* count : {"1", "63", "5001"}) {  // one, less than a line, and a tail over several threads
          ops.push_back(std::string("stream kind=") + kind + " count=" + count + " format=" + format +
                        " store=" + store);
        }
      }
    }
  }
  // Over and over: less than a block's share, shares of several loads, and tails.
  for (const char* format : {"fp32", "fp64", "bf16"}) {
    for (const char* count : {"1", "63", "5001", "70007"}) {
      ops.push_back(std::string("stream kind=read turns=3 count=") + count + " format=" + format);
    }
  }
  return ops;
}

inline std::vector<std::string> pointwise() {
  std::vector<std::string> ops;
  for (const char* kind : {"gelu", "gelu_backward", "add", "zero"}) {
    for (const std::string& format : float_formats()) {
      for (const char* columns : {"1", "67", "5003"}) {
        ops.push_back(std::string("pointwise kind=") + kind + " columns=" + columns + " format=" + format);
      }
    }
  }
  for (const char* kind : {"swiglu", "swiglu_backward"}) {
    for (const std::string& format : float_formats()) {
      for (const char* shape : {"rows=1 columns=1", "rows=7 columns=67", "rows=65 columns=33"}) {
        ops.push_back(std::string("pointwise kind=") + kind + " " + shape + " format=" + format);
      }
    }
  }
  return ops;
}

// From and to every format; a back end need not have all of them.
inline std::vector<std::string> casts() {
  const std::vector<std::string> plain = {"fp32",     "bf16",          "fp16",          "fp8_e4m3",
                                          "fp8_e5m2", "fp8_e4m3_fnuz", "fp8_e5m2_fnuz", "int8"};
  std::vector<std::string> targets = plain;
  targets.insert(targets.end(), {"fp8_e4m3.tensor", "int8.tensor"});
  std::vector<std::string> ops;
  for (const std::string& from : plain) {
    for (const std::string& to : targets) ops.push_back("cast count=4099 from=" + from + " to=" + to);
  }
  return ops;
}

inline std::vector<std::string> optimizers() {
  std::vector<std::string> ops;
  for (const std::string& weight : float_formats()) {
    for (const std::string& gradient : float_formats()) {
      ops.push_back("adamw count=4099 weight=" + weight + " gradient=" + gradient);
    }
  }
  return ops;
}

inline std::vector<std::string> softmaxes() {
  std::vector<std::string> ops;
  for (const std::string& format : float_formats()) {
    for (const char* direction : {"", "direction=backward "}) {
      for (const char* shape : {"rows=1 columns=1", "rows=5 columns=67", "rows=12 columns=300"}) {
        ops.push_back(std::string("softmax ") + direction + shape + " format=" + format);
      }
      ops.push_back(std::string("softmax ") + direction + "rows=14 columns=9 format=" + format + " period=7");
    }
  }
  return ops;
}

inline std::vector<std::string> norms() {
  std::vector<std::string> ops;
  for (const std::string& format : float_formats()) {
    for (const char* kind : {"rms", "layer"}) {
      for (const char* shape : {"rows=1 columns=1", "rows=9 columns=67", "rows=5 columns=1030"}) {
        const std::string end = std::string(shape) + " format=" + format;
        ops.push_back(std::string("norm kind=") + kind + " " + end);
        ops.push_back(std::string("norm kind=") + kind + " direction=backward " + end);
        ops.push_back(std::string("norm kind=") + kind + " direction=backward " + end + " accumulate=true");
        ops.push_back(std::string("norm_weights kind=") + kind + " " + end);
        ops.push_back(std::string("norm_weights kind=") + kind + " " + end + " accumulate=true");
      }
    }
  }
  return ops;
}

inline std::vector<std::string> columns_and_losses() {
  std::vector<std::string> ops;
  for (const std::string& format : float_formats()) {
    for (const char* shape : {"rows=1 columns=1", "rows=300 columns=67", "rows=5 columns=1030"}) {
      ops.push_back(std::string("column_sum ") + shape + " format=" + format);
      ops.push_back(std::string("column_sum ") + shape + " format=" + format + " accumulate=true");
      ops.push_back(std::string("cross_entropy ") + shape + " format=" + format);
      ops.push_back(std::string("cross_entropy ") + shape + " format=" + format + " parts=3 scaled=true");
    }
  }
  return ops;
}

// Queries of one head and of several that share keys, whole squares and a cache behind them, masks, windows, blocks of
// keys that are full and not, and sizes that no vector divides.
inline std::vector<std::string> attentions() {
  std::vector<std::string> ops;
  for (const std::string& format : float_formats()) {
    for (const char* direction : {"", "direction=backward "}) {
      for (const char* shape : {"query_length=1 key_length=1 heads=1 kv_heads=1 head_size=1 value_size=1",
                                "batch=2 query_length=7 key_length=7 heads=4 kv_heads=2 head_size=6 value_size=5",
                                "query_length=70 key_length=70 heads=2 kv_heads=2 head_size=16 value_size=16",
                                "query_length=3 key_length=131 heads=6 kv_heads=2 head_size=33 value_size=17"}) {
        for (const char* mask : {"", " causal=true", " causal=true window=5"}) {
          ops.push_back(std::string("attention ") + direction + shape + " format=" + format + " cache=" + format +
                        mask);
        }
      }
    }
    ops.push_back("attention query_length=2 key_length=67 heads=6 kv_heads=3 head_size=24 value_size=24 format=" +
                  format + " cache=fp8_e4m3 causal=true");
    for (const std::string& to : {format, std::string("fp8_e4m3")}) {
      ops.push_back("cache_append batch=2 heads=3 length=2 capacity=9 position=4 head_size=7 from=" + format +
                    " to=" + to);
    }
  }
  return ops;
}

// What a training step does beside its products and rows.
inline std::vector<std::string> training() {
  std::vector<std::string> ops;
  for (const std::string& format : float_formats()) {
    for (const char* count : {"1", "130", "50003"}) {
      ops.push_back(std::string("sum_squares count=") + count + " format=" + format);
      ops.push_back(std::string("sum_squares count=") + count + " format=" + format + " accumulate=true");
      for (const char* to : {"fp8_e4m3.tensor", "fp8_e5m2.tensor", "fp16"}) {
        ops.push_back(std::string("tensor_scale count=") + count + " from=" + format + " to=" + to);
      }
      for (const std::string& weight : float_formats()) {
        ops.push_back(std::string("adamw8 count=") + count + " weight=" + weight + " gradient=" + format);
      }
    }
  }
  for (const char* settings : {"", " clip=0", " clip=0.25 warmup=10", " interval=1", " interval=5 warmup=1 rate=0.5"}) {
    ops.push_back(std::string("adam_control") + settings);
  }
  return ops;
}

inline std::vector<std::string> tokens() {
  std::vector<std::string> ops;
  for (const std::string& format : float_formats()) {
    for (const char* direction : {"", "direction=backward "}) {
      const std::string end = " format=" + format;
      ops.push_back(std::string("embedding ") + direction + "rows=40 vocabulary=11 columns=37" + end);
      ops.push_back(std::string("rope ") + direction + "batch=2 length=5 heads=4 kv_heads=2 head_size=6" + end);
      ops.push_back(std::string("rope ") + direction + "batch=2 length=5 heads=3 kv_heads=3 head_size=8" + end +
                    " rotate=false");
      ops.push_back(std::string("heads ") + direction + "batch=2 length=5 heads=3 head_size=7" + end);
    }
  }
  return ops;
}

}  // namespace assay::conformance
