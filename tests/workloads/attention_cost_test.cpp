#include "workloads/attention_cost.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim::workloads;

namespace {

// Made up, round, and of no device.
const AttentionMachine machine{100, 100, 800e12, 3e12};

AttentionCoefficients coefficients() {
  AttentionCoefficients c;
  c.head_dims = {{64, 0.4, true}, {128, 0.5, true}};
  return c;
}

double total(const Attention& attention, const AttentionMachine& on = machine) {
  return attention_forward_time(attention, on, coefficients(), Setting::step).total_s;
}

Attention causal(std::int64_t batch, std::int64_t length) {
  return {batch, length, length, 32, 8, 128};
}

}  // namespace

TEST_CASE("attention takes at least its arithmetic and its bytes", "[attention_cost]") {
  for (const std::int64_t batch : {1, 8}) {
    for (const std::int64_t length : {64, 100, 1024, 8192, 131072}) {
      const Kernel kernel{"", causal(batch, length), 1};
      CAPTURE(batch, length);
      CHECK(total(causal(batch, length)) >= flops(kernel) / machine.peak_flops_per_s);
      const Attention& a = std::get<Attention>(kernel.work);
      const double qkvo = 2.0 * static_cast<double>(a.batch * a.head_dim * length) *
                          static_cast<double>(2 * a.heads + 2 * a.kv_heads);
      CHECK(total(a) >= qkvo / machine.memory_bytes_per_s);
    }
  }
}

TEST_CASE("longer sequences, more heads and wider heads are never faster", "[attention_cost]") {
  Attention attention = causal(1, 128);
  for (int step = 0; step < 8; ++step) {
    const double before = total(attention);
    Attention longer = attention;
    longer.query_length = longer.key_length = attention.query_length * 3 / 2;
    CHECK(total(longer) >= before);
    Attention more = attention;
    more.heads *= 2;
    CHECK(total(more) >= before);
    Attention wider = attention;
    wider.head_dim = 192;
    CHECK(total(wider) >= before);
    attention = longer;
  }
}

TEST_CASE("a causal mask halves long sequences, and a window bounds them", "[attention_cost]") {
  Attention full = causal(4, 32768);
  full.causal = false;
  const double masked = total(causal(4, 32768));
  CHECK(masked / total(full) == Approx(0.5).margin(0.02));
  Attention windowed = causal(4, 32768);
  windowed.window = 1024;
  CHECK(total(windowed) < masked / 8);
  windowed.window = 65536;
  CHECK(total(windowed) == masked);
}

TEST_CASE("fewer SMs and less bandwidth never speed attention up", "[attention_cost]") {
  double previous = 1e30;
  for (const int available : {10, 40, 99, 100}) {
    const double time = total(causal(1, 4096), {100, available, 800e12, 3e12});
    CHECK(time <= previous);
    previous = time;
  }
  CHECK(total(causal(1, 4096), {100, 100, 800e12, 1e12}) >= previous);
}

TEST_CASE("few long sequences wait for the longest row of blocks", "[attention_cost]") {
  Attention one = causal(1, 65536);
  one.heads = one.kv_heads = 1;
  AttentionMachine wide = machine;
  wide.sms = wide.available_sms = 100'000;
  wide.peak_flops_per_s *= 1000;
  const auto time = attention_forward_time(one, wide, coefficients(), Setting::step);
  const double block_s = 4.0 * 128 * 128 * 128 / (wide.peak_flops_per_s / wide.sms * 0.5);
  CHECK(time.compute_s >= 512 * block_s);
}

TEST_CASE("a head dimension is measured, padded to the next, or beyond the largest",
          "[attention_cost]") {
  CHECK(efficiency_of(coefficients(), 128).efficiency == 0.5);
  CHECK(efficiency_of(coefficients(), 128).measured);
  CHECK(efficiency_of(coefficients(), 96).efficiency == Approx(0.5 * 96 / 128));
  CHECK_FALSE(efficiency_of(coefficients(), 96).measured);
  CHECK(efficiency_of(coefficients(), 256).efficiency == 0.5);
  CHECK_FALSE(efficiency_of(coefficients(), 256).measured);
}

TEST_CASE("a benchmark's preparation is left out of a step", "[attention_cost]") {
  AttentionCoefficients c = coefficients();
  c.prepare_passes = 2;
  const Attention attention = causal(1, 4096);
  CHECK(attention_forward_time(attention, machine, c, Setting::benchmark).total_s >
        attention_forward_time(attention, machine, c, Setting::step).total_s);
  CHECK(attention_forward_time(attention, machine, c, Setting::step).total_s == total(attention));
}

TEST_CASE("unfused attention multiplies every score, masked or not", "[attention_cost]") {
  const Attention forward{2, 1024, 1024, 16, 16, 64};
  const UnfusedAttention kernels = unfused(forward);
  REQUIRE(kernels.gemms.size() == 2);
  double total_flops = 0;
  for (const Gemm& gemm : kernels.gemms) total_flops += flops(Kernel{"", gemm, 1});
  CHECK(total_flops == 2 * 2.0 * 2 * 16 * 1024 * 1024 * 64);
  // With its matrix multiplications' own reads and writes of the scores: 11 bytes forward and 17
  // backward a score.
  const double scores = 2.0 * 16 * 1024 * 1024;
  CHECK((kernels.softmax.bytes_read + kernels.softmax.bytes_written) / scores + 4 == 11);
  Attention backward = forward;
  backward.backward = true;
  const UnfusedAttention back = unfused(backward);
  CHECK(back.gemms.size() == 4);
  CHECK((back.softmax.bytes_read + back.softmax.bytes_written) / scores + 8 == 17);
}
