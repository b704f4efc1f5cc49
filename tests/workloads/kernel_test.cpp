#include "workloads/kernel.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim::workloads;

namespace {

Kernel attention_of(std::int64_t query, std::int64_t key, std::int64_t window = 0) {
  Attention attention;
  attention.query_length = query;
  attention.key_length = key;
  attention.heads = 4;
  attention.kv_heads = 2;
  attention.head_dim = 8;
  attention.window = window;
  return {"attention", attention, 1};
}

std::int64_t pairs_one_by_one(const Attention& attention) {
  std::int64_t pairs = 0;
  for (std::int64_t q = 0; q < attention.query_length; ++q) {
    for (std::int64_t k = 0; k < attention.key_length; ++k) {
      const std::int64_t position = q + attention.key_length - attention.query_length;
      if (attention.causal && k > position) continue;
      if (attention.window > 0 && k <= position - attention.window) continue;
      ++pairs;
    }
  }
  return pairs;
}

}  // namespace

TEST_CASE("a GEMM computes 2mnk and moves its operands once", "[kernel]") {
  const Kernel kernel{"up", Gemm{8192, 28672, 8192}, 1};
  CHECK(flops(kernel) == 2.0 * 8192 * 28672 * 8192);
  CHECK(minimum_bytes(kernel) == 2.0 * (8192.0 * 8192 + 8192.0 * 28672 + 8192.0 * 28672));
  CHECK(std::string(category(kernel)) == "gemm");
}

TEST_CASE("a GEMM that accumulates reads and writes fp32", "[kernel]") {
  Gemm gemm{10, 20, 30};
  gemm.accumulates = true;
  CHECK(minimum_bytes({"wgrad", gemm, 1}) == 2.0 * (300 + 600) + 8.0 * 200);
}

TEST_CASE("an fp8 GEMM reads bytes and writes bf16", "[kernel]") {
  Gemm gemm{10, 20, 30};
  gemm.format = stepsim::topology::MatrixFormat::fp8;
  CHECK(minimum_bytes({"up", gemm, 1}) == 300 + 600 + 2.0 * 200);
}

TEST_CASE("attended pairs equal a count one by one", "[kernel]") {
  for (const auto& [query, key, window] :
       {std::tuple{16, 16, 0}, {16, 16, 5}, {1, 40, 0}, {1, 40, 7}, {5, 12, 4}, {5, 12, 100}}) {
    const Attention attention = std::get<Attention>(attention_of(query, key, window).work);
    CAPTURE(query, key, window);
    CHECK(attended_pairs(attention) == pairs_one_by_one(attention));
  }
}

TEST_CASE("attention backward runs five matrix multiplications for two of forward", "[kernel]") {
  Kernel kernel = attention_of(128, 128);
  const double forward = flops(kernel);
  CHECK(forward == 4.0 * 4 * 8 * (128 * 129 / 2));
  std::get<Attention>(kernel.work).backward = true;
  CHECK(flops(kernel) == 2.5 * forward);
}

TEST_CASE("attention moves each of its tensors once", "[kernel]") {
  const Kernel forward = attention_of(128, 128);
  // q and out: 4 heads of 8; k and v: 2 heads of 8; bf16; one fp32 a row and head.
  CHECK(minimum_bytes(forward) == 128 * (2 * 4 * 8 * 2 + 2 * 2 * 8 * 2) + 128 * 4 * 4);
}
