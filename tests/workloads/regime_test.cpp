#include "workloads/regime.hpp"

#include "workloads/hf_config.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::workloads;
using sim::Clock;

namespace {

Model zoo(const char* name) { return load_zoo_model(DataDirectory::find(), name).model; }

RegimeRates rates() {
  return {FlopRate::teraflops(1000), Bandwidth::gigabytes_per_second(4000),
          Bandwidth::gigabytes_per_second(400), Bandwidth::gigabytes_per_second(50)};
}

constexpr KernelStack compiled{true, AttentionKernel::flash2, DType::bf16};

}  // namespace

TEST_CASE("the slowest clock is on top, the first of equals", "[regime]") {
  RegimeClocks clocks;
  CHECK(clocks.top() == Clock::compute);
  clocks[Clock::overhead] = 2;
  clocks[Clock::memory] = 2;
  CHECK(clocks.top() == Clock::memory);
  CHECK(clocks.bound_s() == 2);
}

TEST_CASE("a model is its layers and what is outside them", "[regime]") {
  const Model model = zoo("llama3-8b");
  TrainingRegime regime = training_regime(model, {1, 4096}, compiled);
  regime.data_parallel = 8;
  const Launches launches =
      training_launches(model, {1, 4096}, compiled, LaunchMode::compiled, default_host_costs());
  const RegimeResult result = training_clocks(model, regime, rates(), launches);
  for (std::size_t i = 0; i < result.model.seconds.size(); ++i) {
    CHECK(result.model.seconds[i] ==
          Approx(32 * result.layer.seconds[i] + result.outside.seconds[i]));
  }
  CHECK(result.step_s == Approx(32 * result.layer.bound_s() + result.outside.bound_s()));
  CHECK(result.tokens_per_s == Approx(4096 / result.step_s));
}

TEST_CASE("the arithmetic of a training regime is the model's FLOPs", "[regime]") {
  const Model model = zoo("gemma2-9b");
  for (const FlopsConvention convention :
       {FlopsConvention::full_attention, FlopsConvention::causal_attention,
        FlopsConvention::six_n}) {
    TrainingRegime regime;
    regime.tokens = 16'384;
    regime.sequence_length = 8192;
    regime.flops = convention;
    const RegimeResult result = training_clocks(model, regime, rates(), {});
    CHECK(result.model[Clock::compute] ==
          Approx(16'384 * training_flops_per_token(model, 8192, convention) / 1e15));
  }
}

TEST_CASE("the memory clock of a training regime is the kernels' bytes", "[regime]") {
  const Model model = zoo("llama3-8b");
  const TrainingRegime regime = training_regime(model, {1, 4096}, compiled);
  const ModuleKernels block = layer_kernels(model, 0, {1, 4096}, compiled);
  double bytes = 0;
  for (const auto* list : {&block.forward, &block.backward}) {
    for (const LaunchedKernel& launched : *list) bytes += minimum_bytes(launched.kernel);
  }
  CHECK(training_layer_clocks(model, 0, regime, rates(), {})[Clock::memory] ==
        Approx(bytes / 4e12));
}

TEST_CASE("a step's gradients cross the link once, whatever the tokens", "[regime]") {
  const Model model = zoo("llama3-8b");
  TrainingRegime regime;
  regime.tokens = 1;
  regime.data_parallel = 64;
  const RegimeResult few = training_clocks(model, regime, rates(), {});
  CHECK(
      few.model[Clock::communication] ==
      Approx(ring_all_reduce_s(gradient_bytes(model, 2), 64, Bandwidth::gigabytes_per_second(50))));
  regime.tokens = 100'000;
  CHECK(training_clocks(model, regime, rates(), {}).model[Clock::communication] ==
        few.model[Clock::communication]);
}

TEST_CASE("tensor parallelism divides work and adds all-reduces", "[regime]") {
  const Model model = zoo("llama3-70b");
  DecodeRegime regime;
  regime.batch = 4;
  regime.context = 1024;
  const RegimeClocks one = decode_layer_clocks(model, 0, regime, rates(), {});
  regime.tensor_parallel = 4;
  const RegimeClocks four = decode_layer_clocks(model, 0, regime, rates(), {});
  CHECK(four[Clock::memory] == Approx(one[Clock::memory] / 4));
  CHECK(four[Clock::compute] == Approx(one[Clock::compute] / 4));
  CHECK(one[Clock::communication] == 0);
  // Two rings of 4 × 8192 bf16 elements, 1.5 times each.
  CHECK(four[Clock::communication] == Approx(2 * 1.5 * 4 * 8192 * 2 / 400e9));
}

TEST_CASE("a longer context reads more cache, up to the window", "[regime]") {
  const Model model = zoo("mistral-7b");
  const auto memory = [&](std::int64_t context) {
    DecodeRegime regime;
    regime.context = context;
    return decode_layer_clocks(model, 0, regime, rates(), {})[Clock::memory];
  };
  CHECK(memory(2048) > memory(1024));
  CHECK(memory(8192) == memory(4096));
  CHECK(kv_cache_bytes(model, 1, 8192, 2) == kv_cache_bytes(model, 1, 4096, 2));
}

TEST_CASE("a CUDA graph launches once and leaves the host out of the way", "[regime]") {
  const Model model = zoo("llama3.2-1b");
  const HostCosts costs = default_host_costs();
  const KernelStack eager{false, AttentionKernel::flash2, DType::bf16};
  const Launches slow = decode_launches(model, 1, eager, LaunchMode::eager, costs);
  const Launches fast = decode_launches(model, 1, eager, LaunchMode::graph, costs);
  CHECK(slow.per_layer == fast.per_layer);
  CHECK(slow.once_s == 0);
  CHECK(fast.once_s > 0);
  const RegimeResult with_host = decode_clocks(model, {}, rates(), slow);
  const RegimeResult with_graph = decode_clocks(model, {}, rates(), fast);
  CHECK(with_host.layer.top() == Clock::overhead);
  CHECK(with_graph.layer.top() == Clock::memory);
  CHECK(with_graph.model[Clock::overhead] ==
        Approx((16 * fast.per_layer + fast.outside_layers) * fast.each_s + fast.once_s));
}

TEST_CASE("rates of a device are its datasheet's, in the format asked for", "[regime]") {
  const topology::Device device = topology::load_device(DataDirectory::find(), "a100-sxm-80gb");
  const RegimeRates found = datasheet_rates(device, topology::MatrixFormat::bf16);
  CHECK(found.compute.flops_per_second() == 312e12);
  CHECK(found.memory == device.memory_bandwidth.value);
  CHECK_THROWS_AS(datasheet_rates(device, topology::MatrixFormat::fp8), InputError);
}

TEST_CASE("a ring moves nothing for one rank and twice the buffer for many", "[regime]") {
  CHECK(ring_all_reduce_bytes(100, 1) == 0);
  CHECK(ring_all_reduce_bytes(100, 2) == 100);
  CHECK(ring_all_reduce_bytes(100, 4) == 150);
  CHECK(ring_all_reduce_bytes(100, 1'000'000) == Approx(200));
}
