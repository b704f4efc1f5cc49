#include "scenarios/regime_answer.hpp"

#include "scenarios/profile_use.hpp"

#include "workloads/hf_config.hpp"
#include "workloads/host_launch_costs.hpp"
#include "workloads/kernel_profile.hpp"

#include "topology/node.hpp"

#include "sim/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace stepsim::scenarios {

namespace {

using workloads::HostCosts;
using workloads::KernelStack;
using workloads::LaunchMode;
using workloads::TokenBatch;

constexpr double bf16_bytes = 2;
constexpr std::int64_t most_tokens = 1'000'000'000;
// A batch of sequences, and the tokens each looks back at.
constexpr std::int64_t most_sequences = 1'000'000;
constexpr std::int64_t most_context = 10'000'000;
constexpr int most_ranks = 1'000'000;

void check_count(const char* option, std::int64_t value, std::int64_t most) {
  if (value >= 1 && value <= most) return;
  throw InputError(Diagnostic{{},
                              option,
                              fmt::format("{} makes no sense", value),
                              fmt::format("a whole number from 1 to {}", most),
                              ""});
}

void check(const ClocksRequest& request) {
  check_count("--tokens", request.tokens, most_tokens);
  check_count("--tensor-parallel", request.tensor_parallel, most_ranks);
  check_count("--data-parallel", request.data_parallel, most_ranks);
  if (request.decode) {
    check_count("--decode", request.decode->batch, most_sequences);
    if (request.decode->context != 0) {
      check_count("--decode", request.decode->context, most_context);
    }
  }
  if (request.decode && request.data_parallel > 1) {
    throw InputError(Diagnostic{
        {}, "--data-parallel", "makes no sense with --decode, which sums no gradients", "", ""});
  }
  if (request.data_link && request.data_parallel == 1) {
    throw InputError(
        Diagnostic{{},
                   "--link",
                   "makes no sense without --data-parallel, whose gradients it carries",
                   "--data-parallel with a number above 1",
                   ""});
  }
  if (request.sequence_length == 0) return;
  check_count("--sequence-length", request.sequence_length, request.tokens);
  if (request.tokens % request.sequence_length != 0) {
    throw InputError(Diagnostic{{},
                                "--sequence-length",
                                fmt::format("{} tokens are no whole number of sequences of {}",
                                            request.tokens, request.sequence_length),
                                "a divisor of --tokens",
                                ""});
  }
}

// As tensor parallelism cuts attention: whole heads, and whole key-value heads or copies of them.
void check_heads(const ClocksRequest& request, const workloads::Model& model) {
  const std::int64_t ways = request.tensor_parallel;
  const bool key_value_heads = model.kv_heads % ways == 0 || ways % model.kv_heads == 0;
  if (model.heads % ways == 0 && key_value_heads) return;
  throw InputError(
      Diagnostic{{},
                 "--tensor-parallel",
                 fmt::format("{} does not divide {} heads and {} key-value heads of {}", ways,
                             model.heads, model.kv_heads, model.name),
                 fmt::format("a divisor of {}", model.heads),
                 ""});
}

std::int64_t usual_tokens(const workloads::Model& model) {
  constexpr std::int64_t usual = 8192;
  const bool ends =
      model.positions == workloads::Positions::learned && !model.position_rows_follow_sequence;
  return ends ? std::min(usual, model.max_positions) : usual;
}

// Learned positions end: a model cannot look at more tokens than its table has rows.
void check_positions(const ClocksRequest& request, const workloads::Model& model) {
  const bool cut = request.sequence_length > 0;
  const char* option = request.decode ? "--decode" : cut ? "--sequence-length" : "--tokens";
  const std::int64_t length = request.decode ? request.decode->context + 1
                              : cut          ? request.sequence_length
                                             : request.tokens;
  try {
    workloads::for_sequence_length(model, length);
  } catch (const InputError& error) {
    Diagnostic diagnostic = error.diagnostics().front();
    diagnostic.path = option;
    if (!request.decode && !cut) diagnostic.expected += " in a sequence (--sequence-length)";
    throw InputError(std::move(diagnostic));
  }
}

/// NVLink of the first node type that carries the device; a device alone does not say.
struct Link {
  Bandwidth bandwidth;
  std::string node;
  int gpus = 0;  // that it joins
};

std::optional<Link> nvlink_of(const DataDirectory& data, const std::string& device) {
  for (const std::string& name : topology::node_names(data)) {
    const topology::Node node = topology::load_node(data, name);
    const Bandwidth bandwidth = node.nvlink_bandwidth.value;
    if (node.device.name == device && bandwidth.bytes_per_second() > 0) {
      return Link{bandwidth, name, node.nvlink_domain > 0 ? node.nvlink_domain : node.gpus};
    }
  }
  return std::nullopt;
}

// Links are needed only by what is parallel.
void add_links(ClocksAnswer& answer, const DataDirectory& data, const ClocksRequest& request) {
  const bool needs_nvlink =
      request.tensor_parallel > 1 || (request.data_parallel > 1 && !request.data_link);
  std::optional<Link> nvlink;
  if (needs_nvlink) {
    nvlink = nvlink_of(data, answer.device.name);
    if (!nvlink) {
      throw InputError(Diagnostic{
          {},
          "",
          fmt::format("no node type joins {} by NVLink", answer.device.name),
          request.tensor_parallel > 1 ? "--tensor-parallel 1" : "--link, such as \"400 Gb/s\"",
          ""});
    }
    if (request.tensor_parallel > nvlink->gpus) {
      throw InputError(
          Diagnostic{{},
                     "--tensor-parallel",
                     fmt::format("{} is beyond the NVLink of node type {}, which joins "
                                 "{} GPUs",
                                 request.tensor_parallel, nvlink->node, nvlink->gpus),
                     fmt::format("at most {}", nvlink->gpus),
                     ""});
    }
    answer.assumptions.push_back(fmt::format("NVLink is that of node type {}", nvlink->node));
  }
  if (request.tensor_parallel > 1) answer.rates.tensor_parallel_link = nvlink->bandwidth;
  if (request.data_parallel == 1) return;
  answer.rates.data_parallel_link = request.data_link ? *request.data_link : nvlink->bandwidth;
}

void add_host_assumptions(ClocksAnswer& answer, LaunchMode mode, const HostCosts& costs) {
  const auto add = [&](const char* what, const Sourced<Time>& cost) {
    answer.assumptions.push_back(fmt::format("{}: {:.3g} us, {}, {}", what,
                                             cost.value.microseconds(), to_string(cost.source.kind),
                                             cost.source.note));
  };
  switch (mode) {
    case LaunchMode::eager:
      return add("host time of a kernel", costs.eager_kernel);
    case LaunchMode::compiled:
      return add("host time of a kernel", costs.compiled_kernel);
    case LaunchMode::graph:
      add("host time of a graph", costs.graph_launch);
      return add("time between two kernels of a graph", costs.graph_node);
  }
}

void add_training(ClocksAnswer& answer, const ClocksRequest& request, const KernelStack& stack,
                  const HostCosts& costs) {
  const std::int64_t length =
      request.sequence_length > 0 ? request.sequence_length : request.tokens;
  const TokenBatch batch{request.tokens / length, length};
  workloads::TrainingRegime regime = workloads::training_regime(answer.model, batch, stack);
  regime.tensor_parallel = request.tensor_parallel;
  regime.data_parallel = request.data_parallel;
  answer.launches =
      workloads::training_launches(answer.model, batch, stack, request.launch_mode, costs);
  answer.result = workloads::training_clocks(answer.model, regime, answer.rates, answer.launches);
}

void add_decode(ClocksAnswer& answer, const ClocksRequest& request, const KernelStack& stack,
                const HostCosts& costs) {
  workloads::DecodeRegime regime;
  regime.batch = request.decode->batch;
  regime.context = request.decode->context;
  regime.tensor_parallel = request.tensor_parallel;
  answer.launches =
      workloads::decode_launches(answer.model, regime.batch, stack, request.launch_mode, costs);
  answer.result = workloads::decode_clocks(answer.model, regime, answer.rates, answer.launches);
  answer.kv_cache_bytes =
      workloads::kv_cache_bytes(answer.model, regime.batch, regime.context, bf16_bytes) /
      request.tensor_parallel;
  constexpr double largest_bytes = 9e18;  // what 64 bits can count
  if (answer.kv_cache_bytes > largest_bytes) {
    throw RangeError("a KV cache of more bytes than 64 bits can count");
  }
}

}  // namespace

ClocksAnswer answer_clocks(const DataDirectory& data, const ClocksRequest& asked) {
  ClocksAnswer answer;
  answer.model = workloads::load_model(data, asked.model).model;
  answer.request = asked;
  if (asked.tokens == 0) answer.request.tokens = usual_tokens(answer.model);
  const ClocksRequest& request = answer.request;
  check(request);
  check_heads(request, answer.model);
  check_positions(request, answer.model);
  answer.device = topology::load_device(data, request.device);
  answer.rates = workloads::datasheet_rates(answer.device, topology::MatrixFormat::bf16);
  answer.weights_bytes = static_cast<double>(workloads::parameter_count(answer.model)) *
                         bf16_bytes / request.tensor_parallel;
  answer.profiles = {model_use(data, answer.model), device_use(data, answer.device)};
  add_links(answer, data, request);
  const HostCosts costs = workloads::default_host_costs();
  KernelStack stack;
  stack.compile = request.launch_mode != LaunchMode::eager;
  if (request.decode) {
    add_decode(answer, request, stack, costs);
  } else {
    add_training(answer, request, stack, costs);
  }
  add_host_assumptions(answer, request.launch_mode, costs);
  return answer;
}

namespace {

RooflinePoint point_of(const workloads::Gemm& gemm, const workloads::KernelCostModel& model,
                       const RooflineAnswer& answer) {
  constexpr std::int64_t largest = 10'000'000;
  for (const std::int64_t size : {gemm.m, gemm.n, gemm.k}) check_count("--gemm", size, largest);
  RooflinePoint point;
  point.gemm = gemm;
  point.gemm.format = answer.format;
  const workloads::Kernel kernel{"gemm", point.gemm, 1};
  point.flops = workloads::flops(kernel);
  point.bytes = workloads::minimum_bytes(kernel);
  point.intensity = workloads::arithmetic_intensity(kernel);
  point.clocks = workloads::kernel_clocks(kernel, answer.rates, answer.launch_s);
  point.time = model.time(kernel);
  return point;
}

}  // namespace

RooflineAnswer answer_roofline(const DataDirectory& data, const RooflineRequest& request) {
  RooflineAnswer answer;
  answer.device = topology::load_device(data, request.device);
  answer.format = request.format;
  answer.rates = workloads::datasheet_rates(answer.device, request.format);
  answer.ridge = workloads::ridge_point(answer.rates);
  answer.launch_s = workloads::default_host_costs().compiled_kernel.value.seconds();
  const workloads::KernelCostModel model(data, answer.device);
  answer.profiles = {device_use(data, answer.device)};
  add_kernels_use(answer.profiles, data, model.profile());
  bool assumed = false;
  for (const workloads::Gemm& gemm : request.gemms) {
    answer.points.push_back(point_of(gemm, model, answer));
    assumed = assumed || answer.points.back().time.assumed;
  }
  if (assumed) {
    answer.assumptions.push_back(fmt::format("{} kernel times not measured on {}: {}",
                                             to_string(answer.format), answer.device.name,
                                             answer.points.front().time.source));
  }
  return answer;
}

}  // namespace stepsim::scenarios
