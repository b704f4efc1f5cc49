#include "report/clocks_text.hpp"

#include "report/build_info.hpp"
#include "report/clock_bars.hpp"
#include "report/result_json.hpp"
#include "report/text_format.hpp"
#include "report/text_sections.hpp"

#include "sim/job.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <vector>

namespace stepsim::report {

namespace {

using nlohmann::ordered_json;
using scenarios::ClocksAnswer;
using scenarios::ClocksRequest;
using workloads::RegimeClocks;

std::vector<std::string> regime_parts(const ClocksRequest& request) {
  std::vector<std::string> parts;
  if (request.decode) {
    parts = {"decoding one token a sequence", fmt::format("batch {}", request.decode->batch),
             fmt::format("context {}", request.decode->context)};
  } else {
    parts = {"training", fmt::format("{} tokens a GPU", request.tokens)};
    if (request.sequence_length > 0) {
      parts.push_back(fmt::format("in sequences of {}", request.sequence_length));
    } else {
      parts.emplace_back("one sequence");
    }
  }
  if (request.tensor_parallel > 1) {
    parts.push_back(fmt::format("tensor parallel {}", request.tensor_parallel));
  }
  if (request.data_parallel > 1) {
    parts.push_back(fmt::format("data parallel {}", request.data_parallel));
  }
  parts.push_back(fmt::format("bf16, {}", to_string(request.launch_mode)));
  return parts;
}

std::vector<std::string> rate_parts(const ClocksAnswer& answer) {
  std::vector<std::string> parts = {
      inert(answer.device.name),
      fmt::format("{} TFLOP/s", three_digits(answer.rates.compute.flops_per_second() * 1e-12)),
      fmt::format("{} TB/s", three_digits(answer.rates.memory.bytes_per_second() * 1e-12))};
  const auto add_link = [&](const char* name, Bandwidth link) {
    if (link.bytes_per_second() == 0) return;
    parts.push_back(
        fmt::format("{} link {} GB/s", name, three_digits(link.gigabytes_per_second())));
  };
  add_link("tensor-parallel", answer.rates.tensor_parallel_link);
  add_link("data-parallel", answer.rates.data_parallel_link);
  parts.emplace_back("datasheet rates");
  return parts;
}

std::vector<std::string> memory_parts_of(const ClocksAnswer& answer) {
  const auto capacity = static_cast<double>(answer.device.memory_capacity.value.count());
  const auto part = [&](const char* what, double bytes) {
    return fmt::format("{} {} ({})", what, human_bytes(Bytes(static_cast<std::int64_t>(bytes))),
                       percent(bytes / capacity));
  };
  std::vector<std::string> parts = {part("weights", answer.weights_bytes)};
  if (answer.kv_cache_bytes > 0) parts.push_back(part("KV cache", answer.kv_cache_bytes));
  parts.push_back("of " + capacity_text(answer.device.memory_capacity.value) + " a GPU");
  if (answer.weights_bytes + answer.kv_cache_bytes > capacity) {
    parts.emplace_back("does not fit one GPU: take these clocks as if it did");
  }
  return parts;
}

std::string top_sentence(const RegimeClocks& clocks) {
  return fmt::format("{}, bound by {}", human_time(clocks.bound_s()), to_string(clocks.top()));
}

ordered_json clocks_object(const RegimeClocks& clocks) {
  ordered_json object;
  for (int i = 0; i < sim::clock_count; ++i) {
    const auto clock = static_cast<sim::Clock>(i);
    object[std::string(to_string(clock)) + "_s"] = clocks[clock];
  }
  object["top"] = to_string(clocks.top());
  return object;
}

}  // namespace

std::string clocks_text(const ClocksRequest& request, const ClocksAnswer& answer,
                        const Style& style) {
  const auto parameters = static_cast<double>(workloads::parameter_count(answer.model));
  std::string text = paint(style, Colour::bold, "stepsim " + version()) + "  clocks\n\n" +
                     labelled("model",
                              {inert(answer.model.name), human_count(parameters) + " parameters",
                               fmt::format("{} layers", answer.model.layers),
                               fmt::format("hidden {}", answer.model.hidden)},
                              style) +
                     labelled("regime", regime_parts(request), style) +
                     labelled("rates", rate_parts(answer), style) +
                     labelled("memory", memory_parts_of(answer), style) +
                     labelled("profiles", profile_parts(answer.profiles), style);
  text += heading(style, "One layer", top_sentence(answer.result.layer));
  text += clock_bars(answer.result.layer, style);
  text += heading(style, "Embedding, head and loss", top_sentence(answer.result.outside));
  text += clock_bars(answer.result.outside, style);
  text += heading(
      style, "Whole model",
      fmt::format("{} at best, {} tokens/s, most of it {}", human_time(answer.result.step_s),
                  human_count(answer.result.tokens_per_s), to_string(answer.result.model.top())));
  text += clock_bars(answer.result.model, style);
  text += "\n  Each clock as if it ran alone: a layer takes at least as long as its slowest.\n";
  return text + assumptions_section(answer.assumptions, style);
}

Table clocks_table(const ClocksAnswer& answer) {
  Table table{{{"part"}, {"clock"}, {"time_s", Align::right}, {"share_of_top", Align::right}}, {}};
  const auto add = [&](const char* part, const RegimeClocks& clocks) {
    for (int i = 0; i < sim::clock_count; ++i) {
      const auto clock = static_cast<sim::Clock>(i);
      const double share = clocks.bound_s() > 0 ? clocks[clock] / clocks.bound_s() : 0;
      table.add_row(
          {part, to_string(clock), fmt::format("{}", clocks[clock]), fmt::format("{:.4f}", share)});
    }
  };
  add("layer", answer.result.layer);
  add("outside", answer.result.outside);
  add("model", answer.result.model);
  return table;
}

ordered_json clocks_json(const ClocksRequest& request, const ClocksAnswer& answer) {
  ordered_json regime;
  if (request.decode) {
    regime = {
        {"kind", "decode"}, {"batch", request.decode->batch}, {"context", request.decode->context}};
  } else {
    regime = {{"kind", "training"},
              {"tokens", request.tokens},
              {"sequence_length",
               request.sequence_length > 0 ? request.sequence_length : request.tokens}};
  }
  regime["tensor_parallel"] = request.tensor_parallel;
  regime["data_parallel"] = request.data_parallel;
  regime["launches"] = to_string(request.launch_mode);
  return {{"schema", "stepsim.clocks/1"},
          {"model", answer.model.name},
          {"device", answer.device.name},
          {"regime", regime},
          {"provenance", provenance_json(answer.profiles, answer.assumptions)},
          {"layer", clocks_object(answer.result.layer)},
          {"outside", clocks_object(answer.result.outside)},
          {"model_clocks", clocks_object(answer.result.model)},
          {"step_s", answer.result.step_s},
          {"tokens_per_second", answer.result.tokens_per_s},
          {"weights_bytes", answer.weights_bytes},
          {"kv_cache_bytes", answer.kv_cache_bytes}};
}

}  // namespace stepsim::report
