// The cards that this program knows without having measured one: what their makers and the trade press publish.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/format.h"

namespace assay {

// Who a card is made for. Consumer cards: no ECC as a rule, FP16 products with FP32 accumulate at half the rate, no
// link.
enum class GpuClass : std::uint8_t { server, workstation, consumer };
std::string text(GpuClass kind);

enum class Ecc : std::uint8_t { yes, no, optional, unknown };  // optional: can be switched on, and then takes memory
std::string text(Ecc ecc);

// One line of reports/gpus.csv. All rates are dense (without sparsity); what nobody publishes is absent.
struct Gpu {
  std::string name;  // "H100 SXM5 80GB"
  std::vector<std::string> aliases;
  std::string vendor;
  GpuClass kind = GpuClass::server;
  std::string architecture;
  std::string capability;  // "9.0", "gfx942"
  std::optional<int> year;
  double memory = 0;  // bytes, as sold; makers write GB for GiB, and what a driver reports is a little less
  std::string memory_kind;
  std::optional<double> bandwidth;  // bytes/s
  // flops/s with FP32 accumulate (INT8: operations/s); fp32 and fp64 without, fp64_matrix and the rest with matrix
  // units
  std::optional<double> fp64, fp64_matrix, fp32, tf32, fp16, bf16, fp8, int8, fp4;
  std::optional<double> fp16_accumulate;  // FP16 products with FP16 accumulate
  std::optional<double> units;            // multiprocessors or compute units
  std::optional<double> boost_hertz;
  std::optional<double> cache;           // bytes, last level
  std::optional<double> watts;           // the maker's limit for the card or module
  std::string host_link;                 // "5.0 x16"
  std::optional<double> host_bandwidth;  // bytes/s per direction on the wire, from generation and lanes
  std::string link;                      // to other cards; empty: none but the host link
  std::optional<double> link_bandwidth;  // bytes/s per direction, all links of the card together
  Ecc ecc = Ecc::unknown;
  std::string form;
  std::string confidence;  // A: the maker's figure as relayed; B: third party or derived; C: weak sources only
  std::vector<std::string> sources;
};

const std::vector<Gpu>& builtin_gpus();

// For tests: the same from a text.
std::vector<Gpu> parse_gpus(std::string_view csv);

// What a person typed: any order of words, any case, with or without the maker. Throws BadInput where none or more than
// one is meant, with the nearest names.
const Gpu& find_gpu(const std::string& wanted);

// What a driver calls its device: the very card, or null. Never a guess.
const Gpu* recognise_gpu(const std::string& device_name);

// Dense peak of products of this element, or absent.
std::optional<double> peak(const Gpu& gpu, Element element);

}  // namespace assay
