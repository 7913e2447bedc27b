// Filling and reading tensors.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/fill.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/error.h"
#include "core/number.h"
#include "kernels/cpu/memory.h"

namespace assay::cpu {
namespace {

constexpr std::int64_t batch = 512;  // values made before they are stored: they stay in the first cache

template <class Stored>
void put(std::byte* memory, std::int64_t index, Stored value) {
  std::memcpy(memory + index * static_cast<std::int64_t>(sizeof value), &value, sizeof value);
}

// Nearest even for doubles inside the element's normal range, on the bits: through float it would round twice. All
// others go the long way.
template <Element element>
std::uint16_t short_bits(double value) {
  constexpr FloatLayout layout = float_layout(element);
  constexpr auto cut = static_cast<unsigned>(52 - layout.mantissa_bits);
  constexpr std::uint64_t smallest = static_cast<std::uint64_t>(1023 + 1 - layout.bias) << 52U;
  constexpr std::uint64_t largest = static_cast<std::uint64_t>(1023 + layout.bias) << 52U;
  constexpr std::uint64_t bias_change = static_cast<std::uint64_t>(1023 - layout.bias)
                                        << static_cast<unsigned>(layout.mantissa_bits);
  const std::uint64_t bits = double_bits(value);
  const std::uint64_t size = bits & 0x7FFFFFFFFFFFFFFFU;
  if (size - smallest < largest - smallest) {
    const std::uint64_t rounded = size + ((std::uint64_t{1} << (cut - 1)) - 1) + ((size >> cut) & 1U);
    return static_cast<std::uint16_t>(((rounded >> cut) - bias_change) | ((bits >> 48U) & 0x8000U));
  }
  return static_cast<std::uint16_t>(encode(element, value));
}

std::uint8_t int8_bits(double value) {
  if (!(value >= -128 && value <= 127)) {
    return static_cast<std::uint8_t>(encode(Element::int8, value));
  }
  constexpr double round = 6755399441055744.0;  // 1.5 * 2^52: the sum has no bits left for fractions
  return static_cast<std::uint8_t>(static_cast<std::int64_t>((value + round) - round));
}

void store(Element element, std::byte* memory, std::int64_t first, const double* values, std::int64_t count) {
  switch (element) {
    case Element::fp64:
      std::memcpy(memory + first * 8, values, static_cast<std::size_t>(count) * 8);
      return;
    case Element::fp32:
    case Element::tf32:
      for (std::int64_t i = 0; i < count; ++i) {
        put(memory, first + i, static_cast<float>(values[i]));
      }
      return;
    case Element::bf16:
      for (std::int64_t i = 0; i < count; ++i) {
        put(memory, first + i, short_bits<Element::bf16>(values[i]));
      }
      return;
    case Element::int8:
      for (std::int64_t i = 0; i < count; ++i) {
        put(memory, first + i, int8_bits(values[i]));
      }
      return;
    case Element::fp16:
      for (std::int64_t i = 0; i < count; ++i) {
        put(memory, first + i, short_bits<Element::fp16>(values[i]));
      }
      return;
    case Element::int32:
      for (std::int64_t i = 0; i < count; ++i) {
        put(memory, first + i, static_cast<std::uint32_t>(encode(Element::int32, values[i])));
      }
      return;
    case Element::int64:
      for (std::int64_t i = 0; i < count; ++i) {
        put(memory, first + i, encode(Element::int64, values[i]));
      }
      return;
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
    case Element::ue8m0:
      for (std::int64_t i = 0; i < count; ++i) {
        put(memory, first + i, static_cast<std::uint8_t>(encode(element, values[i])));
      }
      return;
    case Element::fp4_e2m1:
      throw Error("storing fp4_e2m1 one element at a time, which it is too small for");
  }
}

template <Pattern pattern>
void make_values(double* values, std::int64_t first, std::int64_t count, std::uint64_t seed, double magnitude) {
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = fill_value(pattern, seed, first + i, magnitude);
  }
}

using ValueMaker = void (*)(double*, std::int64_t, std::int64_t, std::uint64_t, double);

ValueMaker value_maker(Pattern pattern) {
  switch (pattern) {
    case Pattern::exact:
      return make_values<Pattern::exact>;
    case Pattern::typical:
      return make_values<Pattern::typical>;
    case Pattern::integer:
      return make_values<Pattern::integer>;
    case Pattern::constant:
      return make_values<Pattern::constant>;
    case Pattern::probe:
      return make_values<Pattern::probe>;
    case Pattern::zero:
      return make_values<Pattern::zero>;
  }
  throw Error("filling a tensor with an unknown pattern");
}

// Runs work(first, count) over [0, count) in batches; each thread takes the part that it will later compute on.
template <class Batch>
void in_batches(std::int64_t count, int threads, const Batch& work) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int part = 0; part < threads; ++part) {
    const Portion mine = portion(count, part, threads);
    for (std::int64_t at = mine.first; at < mine.last; at += batch) {
      work(at, std::min(batch, mine.last - at));
    }
  }
}

struct Matrix {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};

Matrix matrix_of(const Tensor& tensor) {
  Matrix matrix;
  matrix.columns = tensor.shape.empty() ? 1 : tensor.shape.back();
  matrix.rows = matrix.columns == 0 ? 0 : elements(tensor) / matrix.columns;
  return matrix;
}

std::int64_t scales_offset(const Tensor& tensor) {
  const Matrix matrix = matrix_of(tensor);
  return element_bytes(tensor.format.element, matrix.rows, matrix.columns);
}

// Two to a byte, the even index in the low half, each row from a byte of its own.
void fill_nibbles(const Tensor& tensor, const Filling& filling, std::byte* memory, int threads) {
  const Matrix matrix = matrix_of(tensor);
  const std::int64_t row_bytes = (matrix.columns + 1) / 2;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t byte = 0; byte < row_bytes; ++byte) {
      const std::int64_t column = 2 * byte;
      const std::uint64_t low = encode(tensor.format.element, filling(row * matrix.columns + column));
      const std::uint64_t high =
          column + 1 < matrix.columns ? encode(tensor.format.element, filling(row * matrix.columns + column + 1)) : 0;
      memory[row * row_bytes + byte] = static_cast<std::byte>(low | (high << 4U));
    }
  }
}

void fill_scales(const Tensor& tensor, std::byte* memory) {
  std::byte* scales = memory + scales_offset(tensor);
  const std::int64_t size = bytes(tensor) - scales_offset(tensor);
  const auto floats = [](std::byte* at, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      put(at, i, 1.0F);
    }
  };
  switch (tensor.format.scaling) {
    case Scaling::none:
      return;
    case Scaling::tensor:
    case Scaling::group128:
      return floats(scales, size / 4);
    case Scaling::block32_ue8m0:
      std::memset(scales, 127, static_cast<std::size_t>(size));  // 2^(127 - 127)
      return;
    case Scaling::block16_e4m3:
      std::memset(scales, 0x38, static_cast<std::size_t>(size - 4));  // exponent 7 with bias 7, no mantissa: 1
      return floats(scales + size - 4, 1);
  }
}

int poison_byte(Element element) {
  switch (element) {
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
      return 0x80;  // their only NaN
    case Element::int8:
    case Element::int32:
    case Element::int64:
      return 0x81;
    case Element::fp64:
    case Element::fp32:
    case Element::tf32:
    case Element::bf16:
    case Element::fp16:
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp4_e2m1:
    case Element::ue8m0:
      break;
  }
  return 0xFF;  // NaN, and -6 twice for fp4
}

std::uint64_t load_bits(const Tensor& tensor, const std::byte* memory, std::int64_t index) {
  const int width = bits(tensor.format.element);
  if (width == 4) {
    const std::int64_t columns = matrix_of(tensor).columns;
    const std::int64_t column = index % columns;
    const auto byte = static_cast<unsigned>(memory[index / columns * ((columns + 1) / 2) + column / 2]);
    return column % 2 == 0 ? byte & 0xFU : byte >> 4U;
  }
  std::uint64_t word = 0;  // the machine is little-endian: the low bytes come first
  std::memcpy(&word, memory + index * (width / 8), static_cast<std::size_t>(width / 8));
  return word;
}

}  // namespace

void fill_elements(Element element, std::byte* memory, std::int64_t count, Pattern pattern, std::uint64_t seed,
                   double magnitude, int threads) {
  const ValueMaker make = value_maker(pattern);
  in_batches(count, threads, [=](std::int64_t first, std::int64_t some) {
    double values[batch];
    make(values, first, some, seed, magnitude);
    store(element, memory, first, values, some);
  });
}

void fill_tensor(const Tensor& tensor, const Filling& filling, std::byte* memory, int threads) {
  const std::int64_t count = elements(tensor);
  fill_scales(tensor, memory);
  if (bits(tensor.format.element) == 4) {
    fill_nibbles(tensor, filling, memory, threads);
  } else if (filling.initial == Initial::pattern) {
    fill_elements(tensor.format.element, memory, count, filling.pattern, filling.seed, filling.magnitude, threads);
  } else if (filling.initial == Initial::zero) {
    in_batches(count, threads, [&](std::int64_t first, std::int64_t some) {
      const int width = bits(tensor.format.element) / 8;
      std::memset(memory + first * width, 0, static_cast<std::size_t>(some * width));
    });
  } else {
    in_batches(count, threads, [&](std::int64_t first, std::int64_t some) {
      double values[batch];
      for (std::int64_t i = 0; i < some; ++i) {
        values[i] = filling(first + i);
      }
      store(tensor.format.element, memory, first, values, some);
    });
  }
}

void copy_tensor(const Tensor& tensor, const std::byte* from, std::byte* to, int threads) {
  // Each thread its own part, as in filling, so that pages land where they will be used.
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int part = 0; part < threads; ++part) {
    const Portion mine = portion(bytes(tensor), part, threads);
    std::memcpy(to + mine.first, from + mine.first, static_cast<std::size_t>(mine.last - mine.first));
  }
}

void poison_tensor(const Tensor& tensor, std::byte* memory, int threads) {
  const int value = poison_byte(tensor.format.element);
  in_batches(bytes(tensor), threads, [=](std::int64_t first, std::int64_t some) {
    std::memset(memory + first, value, static_cast<std::size_t>(some));
  });
}

std::vector<double> read_tensor(const Tensor& tensor, const std::byte* memory, std::int64_t first, std::int64_t count) {
  if (first < 0 || count < 0 || first > elements(tensor) - count) {
    throw Error("reading elements " + std::to_string(first) + " to " + std::to_string(first + count) + " of tensor \"" +
                tensor.name + "\", which has " + std::to_string(elements(tensor)));
  }
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t index = first; index < first + count; ++index) {
    values.push_back(decode(tensor.format.element, load_bits(tensor, memory, index)));
  }
  return values;
}

}  // namespace assay::cpu
