// The rate at which a GPU's vector units multiply and add, from registers alone.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/gpu/kernels_common.h"

namespace assay::gpu {
namespace {

// How one register is multiplied and added. `lanes` is the multiply-adds of one instruction in one thread.
struct Fp32 {
  using Register = float;
  static constexpr int lanes = 1;
  static constexpr const char* name = "fp32 fma";
  static __device__ Register fused(Register a, Register b, Register c) { return fmaf(a, b, c); }
  static Register half() { return 0.5f; }
  static Register one() { return 1.0f; }
  static Register two() { return 2.0f; }
};
struct Fp64 {
  using Register = double;
  static constexpr int lanes = 1;
  static constexpr const char* name = "fp64 fma";
  static __device__ Register fused(Register a, Register b, Register c) { return fma(a, b, c); }
  static Register half() { return 0.5; }
  static Register one() { return 1.0; }
  static Register two() { return 2.0; }
};
struct Fp16 {
  using Register = std::uint32_t;
  static constexpr int lanes = 2;
  static constexpr const char* name = "packed fp16 fma";
  static __device__ Register fused(Register a, Register b, Register c) { return vendor::fma2_fp16(a, b, c); }
  static Register half() { return 0x38003800U; }
  static Register one() { return 0x3C003C00U; }
  static Register two() { return 0x40004000U; }
};
struct Bf16 {
  using Register = std::uint32_t;
  static constexpr int lanes = 2;
  static constexpr const char* name = "packed bf16 fma";
  static __device__ Register fused(Register a, Register b, Register c) { return vendor::fma2_bf16(a, b, c); }
  static Register half() { return 0x3F003F00U; }
  static Register one() { return 0x3F803F80U; }
  static Register two() { return 0x40004000U; }
};

constexpr int chains = 8;  // independent of each other; with eight warps to a scheduler, no unit waits for a result
constexpr int turns = 32;  // written out, so that the loop's own instructions are one in eighty

template <int times, class Function>
__device__ void repeat(const Function& f) {
  if constexpr (times > 0) {
    f();
    repeat<times - 1>(f);
  }
}

// r = r x + y in every chain, `rounds` times `turns`. The results are written where they equal `wanted`, which no
// chain can become, or all of them where `keep` is set.
template <class Way>
__global__ static void issue_kernel(std::int64_t rounds, typename Way::Register x, typename Way::Register y,
                                    typename Way::Register wanted, int keep, typename Way::Register* results) {
  using Register = typename Way::Register;
  Register r0{}, r1{}, r2{}, r3{}, r4{}, r5{}, r6{}, r7{};
  // Different beginnings, or the compiler would see that the chains are one.
  r1 = r0 + static_cast<Register>(vendor::thread_index());
  r2 = r1 + r1;
  r3 = r2 + r1;
  r4 = r3 + r1;
  r5 = r4 + r1;
  r6 = r5 + r1;
  r7 = r6 + r1;
  for (std::int64_t round = 0; round < rounds; ++round) {
    repeat<turns>([&] {
      r0 = Way::fused(r0, x, y);
      r1 = Way::fused(r1, x, y);
      r2 = Way::fused(r2, x, y);
      r3 = Way::fused(r3, x, y);
      r4 = Way::fused(r4, x, y);
      r5 = Way::fused(r5, x, y);
      r6 = Way::fused(r6, x, y);
      r7 = Way::fused(r7, x, y);
    });
  }
  const Register all[chains] = {r0, r1, r2, r3, r4, r5, r6, r7};
  const std::int64_t own = std::int64_t{vendor::block_index()} * vendor::threads_per_block() + vendor::thread_index();
  for (int i = 0; i < chains; ++i) {
    if (keep != 0 || all[i] == wanted) results[own * chains + i] = all[i];
  }
}

template <class Way>
class Issuing {
 public:
  using Register = typename Way::Register;

  Issuing(const Issue& op, const BodySetup& setup)
      : threads_(setup.threads_or(256)),
        blocks_(static_cast<unsigned>(vendor::resident_blocks(issue_kernel<Way>, threads_, 0) *
                                      vendor::multiprocessors(setup.kernel.device))),
        rounds_(std::max<std::int64_t>(1, ceiling(op.count, std::int64_t{chains} * turns * Way::lanes))),
        results_(lanes() * chains * static_cast<std::int64_t>(sizeof(Register))) {
    prove(setup.kernel.stream);
  }

  void launch(vendor::Stream stream) const { launch(stream, rounds_, 0); }
  double flops() const {
    return 2.0 * static_cast<double>(lanes()) * static_cast<double>(rounds_) * chains * turns * Way::lanes;
  }
  std::int64_t bytes() const { return results_.bytes(); }

 private:
  std::int64_t lanes() const { return std::int64_t{blocks_} * threads_; }

  void launch(vendor::Stream stream, std::int64_t rounds, int keep) const {
    vendor::launch(issue_kernel<Way>, blocks_, threads_, 0, stream, rounds, Way::half(), Way::one(), Register{}, keep,
                   results_.template as<Register>());
  }

  // There are no operands that anybody else could check. r/2 + 1 goes to 2 from anywhere, and stays there: a chain
  // begins below 8 times 1024, so it is nearer than a unit in the last place after 13 + 54 turns, fp64 included.
  void prove(vendor::Stream stream) const {
    launch(stream, 4, 1);
    std::vector<Register> found(static_cast<std::size_t>(lanes() * chains));
    vendor::copy(found.data(), results_.template as<Register>(), results_.bytes(), stream);
    vendor::synchronise(stream);
    for (const Register value : found) {
      if (value != Way::two()) {
        throw Error(std::string("proving ") + Way::name + ": halving and adding one again and again gave " +
                    std::to_string(value) + " where " + std::to_string(Way::two()) + " is right");
      }
    }
  }

  unsigned threads_;
  unsigned blocks_;
  std::int64_t rounds_;
  OwnMemory results_;
};

template <class Way>
Prepared prepare_issue(const Issue& op, const BodySetup& setup) {
  const auto issuing = std::make_shared<Issuing<Way>>(op, setup);
  Prepared prepared;
  prepared.enqueue = [issuing](vendor::Stream stream) { issuing->launch(stream); };
  prepared.workspace = issuing->bytes();
  prepared.method = Way::name;
  prepared.executed = text(op.operands);
  prepared.accumulated = text(op.accumulate);
  prepared.flops = issuing->flops();
  return prepared;
}

bool is(const Issue& op, Element element) {
  return op.operands == Format{element, Scaling::none} && op.accumulate == element;
}

}  // namespace

std::string objection(const Issue& op, int device) {
  if (op.unit != Unit::vector) return "matrix instructions are not issued by the shared kernels";
  if (is(op, Element::fp32) || is(op, Element::fp64) || is(op, Element::fp16)) return "";
  if (is(op, Element::bf16)) {
    return vendor::has_packed_bf16(vendor::architecture(device))
               ? ""
               : "the vector units of this device do not multiply bf16";
  }
  return "the vector units multiply fp32, fp64, fp16 and bf16, adding in the same format, and not " +
         text(op.operands) + " adding in " + text(op.accumulate);
}

Prepared prepare(const Issue& op, const Pointers&, const BodySetup& setup) {
  if (is(op, Element::fp64)) return prepare_issue<Fp64>(op, setup);
  if (is(op, Element::fp16)) return prepare_issue<Fp16>(op, setup);
  if (is(op, Element::bf16)) return prepare_issue<Bf16>(op, setup);
  return prepare_issue<Fp32>(op, setup);
}

}  // namespace assay::gpu
