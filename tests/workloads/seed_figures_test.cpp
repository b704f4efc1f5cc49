// The forty worked numbers the product must reproduce, row by row (S36 needs every plan and 16,384
// ranks). What a row gives (a device's peak, kernels a layer, seconds a launch) is an argument; the
// product's own functions compute. Tolerances are the rows' own.

#include "workloads/activation_formulas.hpp"
#include "workloads/hf_config.hpp"
#include "workloads/kernel.hpp"
#include "workloads/regime.hpp"

#include "topology/device.hpp"

#include "tests/support/catch.hpp"

#include <map>

using namespace stepsim;
using namespace stepsim::workloads;
using sim::Clock;

namespace {

Model zoo(const char* name) { return load_zoo_model(DataDirectory::find(), name).model; }

/// An H100 and a B200 by the numbers the rows give.
RegimeRates h100() {
  return {FlopRate::teraflops(989), Bandwidth::gigabytes_per_second(3350), {}, {}};
}
RegimeRates b200() {
  RegimeRates rates = h100();
  rates.memory = Bandwidth::gigabytes_per_second(8000);
  return rates;
}

/// Llama 3 70B's widest product at 8192 tokens.
Kernel widest() {
  Gemm gemm;
  gemm.m = 8192;
  gemm.n = 28672;
  gemm.k = 8192;
  return {"up", gemm, 1};
}

/// Training on one GPU: six operations a parameter, three passes over the weights.
TrainingRegime training(std::int64_t tokens) {
  TrainingRegime regime;
  regime.tokens = tokens;
  regime.flops = FlopsConvention::six_n;
  return regime;
}

void check(double value, double expected, double tolerance) {
  CHECK(value == Approx(expected).epsilon(tolerance));
}

constexpr std::int64_t many_ranks = 16'384;

}  // namespace

TEST_CASE("S01, S02: parameters of Llama 3 70B", "[seed_figures]") {
  check(static_cast<double>(layer_parameter_count(zoo("llama3-70b"))), 856e6, 0.005);
  check(static_cast<double>(parameter_count(zoo("llama3-70b"))), 70.5e9, 0.005);
}

TEST_CASE("S03 to S08: the widest product at 8192 tokens on an H100", "[seed_figures]") {
  check(flops(widest()), 3.9e12, 0.02);
  check(minimum_bytes(widest()), 1.074e9, 0.01);
  const RegimeClocks clocks = kernel_clocks(widest(), h100(), 0);
  check(clocks[Clock::compute], 3.9e-3, 0.02);
  check(clocks[Clock::memory], 0.32e-3, 0.02);
  check(arithmetic_intensity(widest()), 3584, 0.005);
  check(ridge_point(h100()), 295, 0.005);
  CHECK(clocks.top() == Clock::compute);
}

TEST_CASE("S09 to S14: decoding one token is reading weights", "[seed_figures]") {
  const Model model = zoo("llama3-70b");
  const RegimeClocks layer = decode_layer_clocks(model, 0, {}, h100(), {});
  check(layer[Clock::compute], 1.7e-6, 0.03);
  check(layer[Clock::memory], 510e-6, 0.005);
  CHECK(layer.top() == Clock::memory);
  check(weight_read_s(model, 2, 1, h100().memory), 42e-3, 0.01);
  check(weight_read_s(model, 2, 2, h100().memory), 21e-3, 0.01);
  check(weight_read_s(model, 2, 1, b200().memory), 17.6e-3, 0.01);
  check(compute_bound_batch(h100(), 2), 295, 0.01);
}

TEST_CASE("S15 to S17: the cache of keys and values", "[seed_figures]") {
  const Model model = zoo("llama3-70b");
  CHECK(kv_cache_bytes_per_token(model, 2) == 327'680);
  check(kv_cache_bytes(model, 1, 8192, 2), 2.7e9, 0.01);
  check(kv_cache_bytes(model, 32, 8192, 2), 86e9, 0.01);
}

TEST_CASE("S18 to S22: summing gradients over a ring", "[seed_figures]") {
  const double bytes = gradient_bytes(zoo("llama3-70b"), 2);
  check(bytes, 141e9, 0.005);
  check(ring_all_reduce_bytes(bytes, many_ranks), 282e9, 0.005);
  check(ring_all_reduce_s(bytes, many_ranks, Bandwidth::gigabytes_per_second(450)), 0.627, 0.01);
  check(ring_all_reduce_s(bytes, many_ranks, Bandwidth::bits_per_second(400e9)), 5.64, 0.01);
  check(ring_all_reduce_s(bytes, many_ranks, Bandwidth::bits_per_second(800e9)), 2.82, 0.01);
}

TEST_CASE("S23 to S25: training at 8192 tokens is arithmetic, unless gradients cross a NIC",
          "[seed_figures]") {
  const Model model = zoo("llama3-70b");
  Launches launches;
  launches.per_layer = 90;
  launches.each_s = 5.5e-6;
  const RegimeResult alone = training_clocks(model, training(8192), h100(), launches);
  check(alone.model[Clock::compute], 3.5, 0.01);
  check(alone.layer[Clock::compute], 42e-3, 0.02);
  check(alone.layer[Clock::overhead], 0.5e-3, 0.05);
  CHECK(alone.layer.top() == Clock::compute);

  TrainingRegime parallel = training(8192);
  parallel.data_parallel = many_ranks;
  RegimeRates rates = h100();
  rates.data_parallel_link = Bandwidth::gigabytes_per_second(450);
  const RegimeResult nvlink = training_clocks(model, parallel, rates, launches);
  check(nvlink.model[Clock::communication], 0.627, 0.01);
  CHECK(nvlink.model.top() == Clock::compute);
  rates.data_parallel_link = Bandwidth::bits_per_second(400e9);
  const RegimeResult nic = training_clocks(model, parallel, rates, launches);
  check(nic.model[Clock::communication], 5.64, 0.01);
  CHECK(nic.model.top() == Clock::communication);
  rates.data_parallel_link = Bandwidth::bits_per_second(800e9);
  CHECK(training_clocks(model, parallel, rates, launches).model.top() == Clock::compute);
}

TEST_CASE("S26, S27: at 128 tokens a layer waits for its weights", "[seed_figures]") {
  const RegimeClocks layer = training_layer_clocks(zoo("llama3-70b"), 0, training(128), h100(), {});
  check(layer[Clock::compute], 0.66e-3, 0.02);
  check(layer[Clock::memory], 1.53e-3, 0.02);
  CHECK(layer.top() == Clock::memory);
}

TEST_CASE("S28 to S31: Llama 3.2 1B decodes as fast as its host launches", "[seed_figures]") {
  const Model model = zoo("llama3.2-1b");
  check(2 * static_cast<double>(layer_parameter_count(model)), 121.6e6, 0.005);
  Launches launches;
  launches.per_layer = 30;
  launches.each_s = 6e-6;
  const RegimeResult decode = decode_clocks(model, {}, h100(), launches);
  check(decode.layer[Clock::memory], 36e-6, 0.02);
  check(decode.layer[Clock::overhead], 180e-6, 0.001);
  CHECK(decode.layer.top() == Clock::overhead);
  CHECK(decode.tokens_per_s >= 300);
  CHECK(decode.tokens_per_s <= 350);
  CHECK(1 / weight_read_s(model, 2, 1, h100().memory) > 1000);
  check(1 / weight_read_s(model, 2, 1, h100().memory), 1355, 0.005);
}

TEST_CASE("S32 to S35: training state and activations", "[seed_figures]") {
  const double states = static_cast<double>(parameter_count(zoo("llama3-70b"))) *
                        model_state_bytes_per_parameter(ModelStates::mixed_precision);
  check(states, 1.129e12, 0.005);
  const GptBlock block{8192, 1, 8192, 64};
  const double flash = gpt_block_activation_bytes(block, ActivationSaving::no_attention_matrices);
  check(flash, 2.28e9, 0.005);
  check(80 * flash, 182.5e9, 0.005);
  check(gpt_block_activation_bytes(block, ActivationSaving::everything) - flash, 21.5e9, 0.005);
}

TEST_CASE("S37, S38: a 7B model's budget, on every card there is", "[seed_figures]") {
  CHECK(gpt_shape(7e9).layers == 33);
  CHECK(gpt_shape(7e9).hidden == 4224);
  CHECK(gpt_shape(7e9).heads == 33);
  const MemoryBudget budget = gpt_memory_budget(7e9, 2048, 1);
  check(budget.states_bytes, 112.0e9, 0.001);
  check(budget.activation_bytes, 32.5e9, 0.005);
  check(budget.total_bytes(), 144.5e9, 0.005);
  // By what the driver reports (an H200: 150 GB), before context and communication buffers.
  const std::map<std::string, bool> fits = {
      {"v100-sxm-32gb", false}, {"a100-pcie-80gb", false}, {"a100-sxm-40gb", false},
      {"a100-sxm-80gb", false}, {"h100-pcie-80gb", false}, {"h100-sxm-80gb", false},
      {"h200-sxm-141gb", true}, {"b200-sxm-180gb", true},  {"gb200", true}};
  const DataDirectory data = DataDirectory::find();
  for (const std::string& name : topology::device_names(data)) {
    CAPTURE(name);
    const auto expected = fits.find(name);
    REQUIRE(expected != fits.end());
    CHECK(budget.fits(topology::load_device(data, name).memory_capacity.value) == expected->second);
  }
}

TEST_CASE("S39, S40: attention of one head, written out and kept on chip", "[seed_figures]") {
  check(attention_scores_bytes(32'768, 2), 2.147e9, 0.005);
  check(attention_on_chip_bytes(32'768, 128, 2), 8.65e6, 0.05);
}
