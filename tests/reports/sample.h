// A made-up report that has everything a report can have, hostile strings included, for the tests of the renderings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "reports/report.h"

namespace assay {

constexpr double sample_gib = 1073741824.0;

inline Quantity known(double value, ReportUnit unit) {
  return {.value = value, .unit = unit, .lower = {}, .upper = {}, .reason = {}};
}

inline Quantity between(double value, double lower, double upper, ReportUnit unit) {
  return {.value = value, .unit = unit, .lower = lower, .upper = upper, .reason = {}};
}

inline Quantity absent(ReportUnit unit, const std::string& reason) {
  return {.value = {}, .unit = unit, .lower = {}, .upper = {}, .reason = reason};
}

// Llama-3-8B at 8,192 tokens: 8,030,261,248 parameters of two bytes, KV cache 131,072 bytes a token.
inline Table sample_memory() {
  const auto bytes = [](double value) { return known(value, ReportUnit::bytes); };
  Table table{.id = "memory", .title = "Memory, item by item", .columns = {}, .rows = {}, .note = {}};
  table.columns = {"item", "bytes", "share", "formula", "what changes it"};
  table.rows = {
      {"weights", bytes(16060522496.0), known(0.6726, ReportUnit::share), "8,030,261,248 parameters x 2 bytes",
       "a narrower format: INT8 halves it"},
      {"KV cache", bytes(1073741824.0), known(0.045, ReportUnit::share),
       "2 x 32 layers x 8 KV heads x 128 x 2 bytes x 8,192 tokens", "context, batch, KV format"},
      {"activations", bytes(268435456.0), known(0.0112, ReportUnit::share), "planned peak of one step", "batch"},
      {"allocator rounding", absent(ReportUnit::bytes, "not measured on this device"), "", "measured by assay run", ""},
  };
  table.note = "Items add up to the total above.";
  return table;
}

inline Table sample_fit() {
  Table table{.id = "fit", .title = "What fits here", .columns = {}, .rows = {}, .note = {}};
  table.columns = {"model", "parameters", "chat, 4k", "long context, 32k", "full fine-tune"};
  table.rows = {
      {"GPT-2", known(124439808, ReportUnit::count), Answer::fits, Answer::fits, Answer::fits},
      {"Llama-3-8B", known(8030261248, ReportUnit::count), Answer::fits, Answer::tight, Answer::does_not_fit},
      {"Mixtral-8x7B", known(46702792704, ReportUnit::count), Answer::does_not_fit, Answer::does_not_fit,
       Answer::not_judged},
  };
  return table;
}

inline Table sample_rates() {
  Table table{.id = "rates", .title = "Rates that were measured", .columns = {}, .rows = {}, .note = {}};
  table.columns = {"op", "rate", "time", "origin"};
  for (int index = 0; index < 40; ++index) {
    const double size = 64.0 * (index + 1);
    const double rate = 3.3e11 * size / (size + 300);
    const double seconds = 2 * size * size * size / rate;
    table.rows.push_back({"gemm m=" + std::to_string(64 * (index + 1)) + " bf16",
                          between(rate, rate * 0.97, rate * 1.02, ReportUnit::flops_per_second),
                          known(seconds, ReportUnit::seconds), index % 5 == 0 ? "interpolated" : "measured"});
  }
  return table;
}

inline Chart sample_bandwidth() {
  Chart chart{.id = "bandwidth",
              .title = "Bandwidth by working set",
              .kind = ChartKind::line,
              .x = {.name = "working set", .unit = ReportUnit::bytes, .logarithmic = true, .labels = {}},
              .y = {.name = "bandwidth", .unit = ReportUnit::bytes_per_second, .logarithmic = true, .labels = {}},
              .series = {},
              .caption = "Bandwidth falls in steps as the working set leaves each cache, and is flat in DRAM.",
              .limits = {{"best DRAM triad", known(39.0e9, ReportUnit::bytes_per_second)}}};
  const std::vector<std::pair<std::string, double>> ops{
      {"read", 1.0}, {"copy", 0.8}, {"triad", 0.86}, {"triad, non-temporal stores", 0.6}};
  for (const auto& [name, factor] : ops) {
    Series series{.name = name, .x = {}, .y = {}, .line = true};
    for (int power = 14; power <= 30; ++power) {
      const double bytes = std::exp2(power);
      const double cache = power < 20 ? 4.2e11 : power < 22 ? 1.9e11 : power < 27 ? 7.0e10 : 2.7e10;
      series.x.push_back(bytes);
      series.y.push_back(cache * (power < 24 ? factor : 2.2 - factor));
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

inline Chart sample_roofline() {
  Chart chart{.id = "roofline",
              .title = "Roofline",
              .kind = ChartKind::scatter,
              .x = {.name = "FLOP per byte", .unit = ReportUnit::none, .logarithmic = true, .labels = {}},
              .y = {.name = "rate", .unit = ReportUnit::flops_per_second, .logarithmic = true, .labels = {}},
              .series = {},
              .caption = "Small and thin products are bound by memory, large square ones by the arithmetic units.",
              .limits = {}};
  chart.series = {
      {.name = "memory and arithmetic bound", .x = {0.1, 8.75, 1000}, .y = {4.0e9, 3.5e11, 3.5e11}, .line = true},
      {.name = "FP32 products",
       .x = {0.5, 4.2, 42, 170, 341},
       .y = {1.7e10, 1.2e11, 2.9e11, 3.3e11, 3.37e11},
       .line = false},
      {.name = "BF16 products", .x = {1, 8.4, 85, 341}, .y = {2.1e10, 1.1e11, 1.6e11, 1.72e11}, .line = false},
  };
  // More series than there are colours, with long names: the legend needs several rows.
  for (int index = 0; index < 7; ++index) {
    const double place = 0.2 * (index + 1);
    chart.series.push_back({.name = "ops of kind " + std::to_string(index + 1),
                            .x = {place, 2 * place},
                            .y = {3e9 * place, 5e9 * place},
                            .line = false});
  }
  return chart;
}

inline Chart sample_gemm() {
  Chart chart{.id = "gemm",
              .title = "Matrix products by size and format",
              .kind = ChartKind::bar,
              .x = {.name = "m = n = k", .unit = ReportUnit::none, .logarithmic = false, .labels = {}},
              .y = {.name = "rate", .unit = ReportUnit::flops_per_second, .logarithmic = false, .labels = {}},
              .series = {},
              .caption = "INT8 is three to four times FP32; BF16 is slower than FP32 on this processor.",
              .limits = {{"FP32 issue rate", known(3.504e11, ReportUnit::flops_per_second)}}};
  chart.x.labels = {"512", "1,024", "2,048", "4,096"};
  chart.series = {{.name = "FP32", .x = {0, 1, 2, 3}, .y = {3.0e11, 3.3e11, 3.2e11, 3.31e11}, .line = false},
                  {.name = "BF16", .x = {0, 1, 2, 3}, .y = {1.6e11, 1.72e11, 1.7e11, 1.69e11}, .line = false},
                  {.name = "INT8", .x = {0, 1, 2, 3}, .y = {1.1e12, 1.19e12, 1.13e12, 1.2e12}, .line = false},
                  {.name = "FP64", .x = {1, 2, 3}, .y = {1.5e11, 1.57e11, 1.62e11}, .line = false}};
  return chart;
}

inline Chart sample_budget() {
  const double gib = sample_gib;
  Chart chart{.id = "budget",
              .title = "Memory budget against capacity",
              .kind = ChartKind::stacked_bar,
              .x = {.name = "workload", .unit = ReportUnit::none, .logarithmic = false, .labels = {}},
              .y = {.name = "memory", .unit = ReportUnit::bytes, .logarithmic = false, .labels = {}},
              .series = {},
              .caption = "Chat fits with room to spare; long context comes close to the capacity.",
              .limits = {{"capacity", known(24 * gib, ReportUnit::bytes)}}};
  chart.x.labels = {"chat, 4k", "long context, 64k", "LoRA fine-tune"};
  chart.series = {{.name = "weights", .x = {0, 1, 2}, .y = {14.957 * gib, 14.957 * gib, 14.957 * gib}, .line = false},
                  {.name = "KV cache", .x = {0, 1}, .y = {0.5 * gib, 8 * gib}, .line = false},
                  {.name = "activations", .x = {0, 1, 2}, .y = {0.25 * gib, 0.5 * gib, 3.5 * gib}, .line = false},
                  {.name = "optimizer", .x = {2}, .y = {1.25 * gib}, .line = false}};
  return chart;
}

inline Report sample_report() {
  Report report;
  report.title = "Llama-3-8B on 2 cores of an Intel Xeon: does it fit, and how fast?";
  report.subtitle = "Inference, batch 1, 8,192 tokens, BF16; measured 2026-12-01, quick profile";
  report.verdict = Verdict{
      .answer = Answer::tight,
      .sentence =
          "Llama-3-8B fits with 8,192 tokens of context, but only 6.79 GiB of 24.00 GiB stay free, and it writes "
          "about two tokens a second.",
      .deciding_term = "weights: 14.96 GiB of 24.00 GiB",
      .changes = {"INT8 weights would free 7.48 GiB and about double the tokens a second.",
                  "The context could grow to 62,000 tokens before it no longer fits.",
                  "A batch of 7 fits at 8,192 tokens."}};
  report.headline = {{"Memory needed", known(17402699776.0, ReportUnit::bytes)},
                     {"Memory here", known(24 * sample_gib, ReportUnit::bytes)},
                     {"Tokens a second", between(2.17, 1.98, 2.31, ReportUnit::tokens_per_second)},
                     {"First token after", between(11.2, 10.1, 13.9, ReportUnit::seconds)},
                     {"Best BF16 product", between(1.72e11, 1.69e11, 1.74e11, ReportUnit::flops_per_second)},
                     {"Power", absent(ReportUnit::none, "this machine shows no power meter")}};
  report.findings = {
      {Severity::problem, "FP16 products cannot be measured: oneDNN has no FP16 kernels for this processor.",
       "gemm rows with f16 are skipped: status 3, unimplemented", "assay run --filter gemm --device cpu"},
      {Severity::warning, "Another process used 38 % of the cores during 4 of 212 cases.",
       "rows 17, 18, 40 and 41 carry other_load", "stop it and measure these again: assay run --resume RUN"},
      {Severity::warning, "BF16 is slower than FP32 here, because the processor has no AMX.",
       "172 GFLOP/s against 332 GFLOP/s at 2,048", ""},
      {Severity::info, "Non-temporal stores are 1.5 times as fast as plain ones in DRAM.",
       "39.0 GB/s against 26.8 GB/s", ""},
      {Severity::good, "Memory bandwidth agrees with the product of channels and clock.", "", ""}};

  Section answer{.id = "memory", .title = "Memory", .paragraphs = {}, .tables = {}, .charts = {}};
  answer.paragraphs = {
      "Every item stands with the formula that gave it, so that it can be checked with a pocket calculator.",
      "The capacity is the memory limit of this container, not the size of the machine."};
  answer.tables = {sample_memory(), sample_fit()};
  answer.charts = {sample_budget()};
  Section speed{.id = "speed", .title = "Speed", .paragraphs = {}, .tables = {}, .charts = {}};
  speed.paragraphs = {"Rates were recomputed from the median time of each case and the cost of its op."};
  speed.tables = {sample_rates()};
  speed.charts = {sample_gemm(), sample_roofline(), sample_bandwidth()};
  report.sections = {answer, speed};
  report.provenance = {{"run", "runs/2026-12-01T00-40-12"},
                       {"program", "assay 0.1.0"},
                       {"device", "cpu:0, 2 cores, 24.00 GiB"},
                       {"kernels", "oneDNN 2.6.3, OpenBLAS 0.3.21 SkylakeX"}};
  return report;
}

// What a hostile device name, label or model could hold.
inline const std::string hostile =
    "<script>alert('x')</script> \"quoted\" & | `code` </script><!-- \x1b[31mred\x1b[0m \xE2\x80\xA8 \xE2\x80\xAEtxt "
    "\x07 "
    "\xC2\x9B"
    "2J \xFF\xC0\xAF";

// The sample with the hostile string in every place that takes one.
inline Report hostile_report() {
  Report report = sample_report();
  report.title = report.subtitle = hostile;
  report.verdict->sentence = report.verdict->deciding_term = hostile;
  report.verdict->changes = {hostile, hostile};
  report.headline.emplace_back(hostile, absent(ReportUnit::bytes, hostile));
  report.findings = {{Severity::problem, hostile, hostile, hostile}};
  report.provenance.emplace_back(hostile, hostile);
  for (Section& section : report.sections) {
    section.id = section.title = hostile;
    section.paragraphs = {hostile};
    for (Table& table : section.tables) {
      table.id = table.title = table.note = table.columns.front() = hostile;
      table.rows.front().front() = hostile;
    }
    for (Chart& chart : section.charts) {
      chart.id = chart.title = chart.caption = chart.x.name = chart.y.name = hostile;
      for (std::string& label : chart.x.labels) label += hostile;
      for (Series& series : chart.series) series.name = hostile;
      for (auto& limit : chart.limits) limit.first = hostile;
    }
  }
  return report;
}

}  // namespace assay
