// Does verifying pass what is right, and say what is wrong about the rest?
// SPDX-License-Identifier: Apache-2.0
#include "bench/verify.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <set>

#include "bench/plausible.h"
#include "bench/verify_steps.h"
#include "core/number.h"
#include "tests/bench/scripted_backend.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

Format plain(Element element) { return Format{element, Scaling::none}; }

Op product(Element element, std::int64_t m, std::int64_t n, std::int64_t k) {
  Gemm gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  gemm.a = gemm.b = gemm.d = plain(element);
  if (element == Element::fp64) gemm.accumulate = Element::fp64;
  return gemm;
}

Op triad(std::int64_t count) {
  Stream stream;
  stream.count = count;
  stream.format = plain(Element::fp64);
  return stream;
}

// Fills, runs once with `spoil` applied to the result, and verifies.
Verdict verified(const Op& op, Pattern pattern, const std::function<void(std::vector<double>&)>& spoil) {
  const Work work = single(op);
  Script script;
  script.execute = [&](const Work& done, Values& values) {
    interpret(done, values, true);
    if (spoil) spoil(values[static_cast<std::size_t>(done.steps[0].operands.back())]);
  };
  ScriptedProgram program(work, script);
  program.fill(pattern, measuring_seed);
  program.run(1);
  return verify(work, program, pattern, measuring_seed, true);
}

TEST(Verify, LooksAtCornersEdgesAndTheInsideOfAMatrix) {
  const auto places = sample_places({200, 300}, 64);
  const std::set<std::int64_t> seen(places.begin(), places.end());
  EXPECT_GE(places.size(), 64U);
  EXPECT_EQ(seen.size(), places.size());
  for (const std::int64_t corner : {0, 299, 199 * 300, 199 * 300 + 299}) EXPECT_EQ(seen.count(corner), 1U) << corner;
  int first_row = 0, last_row = 0, first_column = 0, last_column = 0, inside = 0;
  for (const std::int64_t place : places) {
    ASSERT_GE(place, 0);
    ASSERT_LT(place, 200 * 300);
    first_row += place < 300;
    last_row += place >= 199 * 300;
    first_column += place % 300 == 0;
    last_column += place % 300 == 299;
    inside += place > 300 && place < 199 * 300 && place % 300 != 0 && place % 300 != 299;
  }
  for (const int found : {first_row, last_row, first_column, last_column}) EXPECT_GE(found, 4);
  EXPECT_GE(inside, 30);
}

TEST(Verify, LooksAtEveryElementOfASmallTensor) {
  EXPECT_EQ(sample_places({3, 4}, 64).size(), 12U);
  EXPECT_EQ(sample_places({1}, 64), std::vector<std::int64_t>{0});
}

TEST(Verify, PassesRightResultsToTheLastBitWithExactData) {
  for (const Op& op : {product(Element::fp32, 40, 30, 70), product(Element::bf16, 40, 30, 70), triad(1000)}) {
    const Verdict verdict = verified(op, Pattern::exact, nullptr);
    EXPECT_EQ(verdict.wrong, "");
    EXPECT_TRUE(verdict.exact);
    EXPECT_GE(verdict.checked, 64);
  }
}

TEST(Verify, PassesRightResultsWithinTheToleranceWithTypicalData) {
  Norm norm;
  norm.rows = 16;
  norm.columns = 64;
  norm.format = plain(Element::bf16);
  for (const Op& op : {product(Element::fp32, 40, 30, 70), Op(norm)}) {
    const Verdict verdict = verified(op, Pattern::typical, nullptr);
    EXPECT_EQ(verdict.wrong, "");
    EXPECT_FALSE(verdict.exact);
    EXPECT_LE(verdict.worst, 1);
  }
}

TEST(Verify, NamesTheElementThatIsWrongWithBothNumbers) {
  const Verdict verdict =
      verified(product(Element::fp32, 40, 30, 70), Pattern::exact, [](std::vector<double>& d) { d[0] += 1; });
  EXPECT_THAT(verdict.wrong, HasSubstr("exact"));
  EXPECT_THAT(verdict.wrong, HasSubstr("d[0, 0, 0] is "));
  EXPECT_THAT(verdict.wrong, HasSubstr("to the last bit"));
  EXPECT_THAT(verdict.wrong, HasSubstr("1 of "));
}

TEST(Verify, SeesAWrongLastRowAndAWrongLastColumn) {
  EXPECT_NE(verified(product(Element::fp32, 40, 30, 70), Pattern::exact,
                     [](std::vector<double>& d) {
                       for (int column = 0; column < 30; ++column) d[static_cast<std::size_t>(39 * 30 + column)] = 7e6;
                     })
                .wrong,
            "");
  EXPECT_NE(verified(product(Element::fp32, 40, 30, 70), Pattern::typical,
                     [](std::vector<double>& d) {
                       for (int row = 0; row < 40; ++row) d[static_cast<std::size_t>(row * 30 + 29)] += 0.01;
                     })
                .wrong,
            "");
}

TEST(Verify, TellsZerosUntouchedAndNotFiniteApart) {
  const Op op = product(Element::fp32, 40, 30, 70);
  EXPECT_THAT(verified(op, Pattern::typical, [](std::vector<double>& d) { d.assign(d.size(), 0.0); }).wrong,
              HasSubstr("all zeros"));
  EXPECT_THAT(
      verified(op, Pattern::typical, [](std::vector<double>& d) { d[0] = std::numeric_limits<double>::quiet_NaN(); })
          .wrong,
      HasSubstr("1 are not finite"));
  Script idle;
  idle.execute = [](const Work&, Values&) {};
  const Work work = single(op);
  ScriptedProgram program(work, idle);
  program.fill(Pattern::typical, measuring_seed);
  program.run(1);
  EXPECT_THAT(verify(work, program, Pattern::typical, measuring_seed, true).wrong, HasSubstr("was not written"));
}

TEST(Verify, LeavesOutWhatIsAddedToWhenItRanMoreThanOnce) {
  AdamW op;
  op.count = 100;
  op.weight = op.gradient = plain(Element::bf16);
  const Work work = single(op);
  Script script;
  ScriptedProgram program(work, script);
  program.fill(Pattern::typical, measuring_seed);
  program.run(1);
  const Verdict once = verify(work, program, Pattern::typical, measuring_seed, true);
  EXPECT_EQ(once.wrong, "");
  EXPECT_GE(once.checked, 4 * 64);  // master, both moments and the weight
  program.run(1);
  EXPECT_NE(verify(work, program, Pattern::typical, measuring_seed, true).wrong, "");
}

TEST(Verify, KnowsWhatCannotBePredicted) {
  EXPECT_FALSE(verifiable(Issue{}));
  EXPECT_FALSE(verifiable(Chase{}));
  EXPECT_FALSE(verifiable(Launch{}));
  EXPECT_TRUE(verifiable(triad(1000)));
  Stream read;
  read.kind = StreamKind::read;
  read.format = plain(Element::fp64);
  read.count = 1000;
  EXPECT_TRUE(verifiable(read));
  read.count = 100'000'000;
  EXPECT_FALSE(verifiable(read));
  EXPECT_TRUE(is_long_read(read));
}

TEST(Verify, ProvesALongReadByTheSumOfAConstant) {
  Stream read;
  read.kind = StreamKind::read;
  read.format = plain(Element::fp64);
  read.count = 4000;
  const Work work = single(Op(read));
  Script script;
  ScriptedProgram program(work, script);
  program.fill(Pattern::constant, measuring_seed);
  program.run(1);
  EXPECT_EQ(verify_long_read(work, program).wrong, "");
  script.execute = [](const Work&, Values& values) { values[1][0] = values[0][0] * 3999; };
  program.run(1);
  EXPECT_THAT(verify_long_read(work, program).wrong, HasSubstr("4000 equal numbers"));
}

TEST(Verify, FindsTheFormatThatMultipliedInARealProduct) {
  const Work work = single(product(Element::fp32, 20, 24, 512));
  Script script;
  ScriptedProgram honest(work, script);
  honest.fill(Pattern::probe, measuring_seed);
  honest.run(1);
  EXPECT_EQ(probed_precision(work, honest, measuring_seed).executed, "fp32");

  script.execute = [](const Work& done, Values& values) {
    for (std::size_t operand = 0; operand < 2; ++operand) {
      for (double& value : values[operand]) value = rounded(Element::tf32, value);
    }
    interpret(done, values, true);
  };
  ScriptedProgram shortened(work, script);
  shortened.fill(Pattern::probe, measuring_seed);
  shortened.run(1);
  const Precision precision = probed_precision(work, shortened, measuring_seed);
  EXPECT_EQ(precision.executed, "tf32") << precision.proof;
  EXPECT_TRUE(precision.lower_than_asked);
}

TEST(Verify, ProbesTransposedAndBatchedProductsToo) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      Gemm gemm = std::get<Gemm>(product(Element::bf16, 12, 10, 256));
      gemm.batch = 3;
      gemm.transpose_a = transpose_a;
      gemm.transpose_b = transpose_b;
      gemm.alpha = 0.125;
      const Work work = single(Op(gemm));
      Script script;
      ScriptedProgram program(work, script);
      program.fill(Pattern::probe, measuring_seed);
      program.run(1);
      EXPECT_EQ(probed_precision(work, program, measuring_seed).executed, "bf16");
    }
  }
}

// A norm whose result feeds a product: two steps, one tensor between them.
Work two_steps() {
  Norm norm;
  norm.rows = 8;
  norm.columns = 16;
  norm.format = plain(Element::fp32);
  const Op second = product(Element::fp32, 8, 12, 16);
  Work work = single(Op(norm));
  const Work other = single(second);
  work.tensors.push_back(other.tensors[1]);
  work.tensors.push_back(other.tensors[2]);
  work.tensors[2].persistent = false;  // y
  work.steps.push_back({second, {2, 4, 5}, 0, "forward"});
  work.steps[0].phase = "forward";
  return work;
}

TEST(VerifySteps, ComparesAWholeWorkWithTheInterpreter) {
  const Work work = two_steps();
  check(work);
  Script script;
  ScriptedProgram honest(work, script);
  const Verdict right = verify_twin(work, honest, measuring_seed);
  EXPECT_EQ(right.wrong, "");
  EXPECT_GE(right.checked, 8 * 12);

  script.execute = [](const Work& done, Values& values) {
    interpret(done, values, true);
    values[5][40] *= 1.001;
  };
  ScriptedProgram off(work, script);
  EXPECT_THAT(verify_twin(work, off, measuring_seed).wrong, HasSubstr("element 40"));
}

TEST(VerifySteps, NoticesWhatChangedWhileItWasTimed) {
  const Work work = two_steps();
  Script script;
  ScriptedProgram program(work, script);
  const Fingerprint before = fingerprint(work, program, measuring_seed);
  EXPECT_EQ(verify_alone(work, before, measuring_seed).wrong, "");
  EXPECT_EQ(verify_again(work, before, fingerprint(work, program, measuring_seed)).wrong, "");
  script.execute = [](const Work& done, Values& values) {
    interpret(done, values, true);
    for (double& value : values[5]) value *= 1.01;
  };
  EXPECT_NE(verify_again(work, before, fingerprint(work, program, measuring_seed)).wrong, "");
}

// Adam's first step moves a weight by the learning rate in the direction of its gradient. Where that is zero but for
// rounding (allowed here: 8 x 1.55e-5 of a root mean square of 1), both directions are right.
TEST(VerifySteps, LeavesOutWeightsThatWereMovedByRoundingErrors) {
  AdamW op;
  op.count = 200000;
  op.weight = op.gradient = plain(Element::fp32);
  const Work work = single(Op(op));
  const auto verdict = [&](double smallest, double largest) {
    Script script;
    int turned = 0;
    script.execute = [&](const Work& done, Values& values) {
      interpret(done, values, true);
      for (std::size_t i = 0; i < values[1].size(); ++i) {
        const double slope = std::abs(values[1][i]);
        if (slope < smallest || slope > largest || turned == 5) continue;
        values[2][i] += 2e-3;
        ++turned;
      }
    };
    ScriptedProgram program(work, script);
    const std::string wrong = verify_twin(work, program, measuring_seed).wrong;
    EXPECT_EQ(turned, 5);
    return wrong;
  };
  EXPECT_EQ(verdict(0, 1.2e-4), "");
  EXPECT_THAT(verdict(1e-3, 1), HasSubstr("tensor master"));
}

TEST(VerifySteps, NeedsNoReferenceToSeeNonsense) {
  const Work work = two_steps();
  Script script;
  ScriptedProgram program(work, script);
  script.execute = [](const Work&, Values&) {};
  EXPECT_THAT(verify_alone(work, fingerprint(work, program, measuring_seed), measuring_seed).wrong,
              HasSubstr("was not written"));
  script.execute = [](const Work& done, Values& values) {
    interpret(done, values, true);
    for (double& value : values[5]) value = 0;
  };
  EXPECT_THAT(verify_alone(work, fingerprint(work, program, measuring_seed), measuring_seed).wrong,
              HasSubstr("all zeros"));
  script.execute = [](const Work& done, Values& values) {
    interpret(done, values, true);
    for (double& value : values[5]) value = std::numeric_limits<double>::infinity();
  };
  EXPECT_THAT(verify_alone(work, fingerprint(work, program, measuring_seed), measuring_seed).wrong, HasSubstr("inf"));
}

// Two AVX-512 cores do 64 fp32 flops a cycle each at most, at 6.5 GHz: 8.32e11 flop/s.
TEST(Plausible, DisbelievesWhatNoProcessorCanDo) {
  DeviceInfo device;
  device.architecture = "x86-64-v4";
  device.compute_units = 2;
  EXPECT_EQ(impossible(device, {1.0}, 8.3e11, 0, Element::fp32), "");
  EXPECT_THAT(impossible(device, {1.0}, 8.4e11, 0, Element::fp32), HasSubstr("flop/s are more than 2 compute units"));
  EXPECT_EQ(impossible(device, {1.0}, 8.4e11, 0, Element::int8), "");
  // 256 bytes a cycle: 3.328e12 B/s.
  EXPECT_EQ(impossible(device, {1.0}, 0, 3.3e12, Element::fp64), "");
  EXPECT_THAT(impossible(device, {1.0}, 0, 3.4e12, Element::fp64), HasSubstr("B/s are more"));
  EXPECT_THAT(impossible(device, {1.0, 0.0}, 1, 0, Element::fp32), HasSubstr("reported 0 seconds"));
  EXPECT_THAT(impossible(device, {1.0, -1.0}, 1, 0, Element::fp32), HasSubstr("reported -1 seconds"));
  EXPECT_NE(impossible(device, {}, 1, 0, Element::fp32), "");
  EXPECT_EQ(impossible(DeviceInfo{}, {1e-9}, 1e15, 0, Element::fp32), "") << "nothing is known of this device";
}

}  // namespace
}  // namespace assay
