#include "scenarios/import_hugging_face.hpp"

#include "scenarios/scenario.hpp"
#include "scenarios/simulate.hpp"

#include "workloads/hf_config.hpp"

#include "topology/node.hpp"

#include "sim/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

namespace stepsim::scenarios {

namespace {

using workloads::CheckpointKind;
using workloads::Model;

constexpr const char* node_name = "dgx-h100";
constexpr int most_gpus = 131'072;  // as many as a scenario may have

/// What the import decided, with how memory came out.
struct Proposal {
  Scenario scenario;
  workloads::MemoryReport memory;
};

Scenario scenario_for(const DataDirectory& data, const Model& model, int gpus) {
  constexpr std::int64_t longest_default = 8192;
  constexpr std::int64_t unstated = 2048;
  Scenario scenario;
  scenario.model = model;
  scenario.cluster.node = topology::load_node(data, node_name);
  scenario.cluster.gpus = gpus;
  scenario.cluster.nodes = (gpus + scenario.cluster.node.gpus - 1) / scenario.cluster.node.gpus;
  scenario.plan.strategy = workloads::Strategy::fsdp2;
  scenario.plan.shard = gpus;
  scenario.training.sequence_length =
      model.max_positions > 0 ? std::min(model.max_positions, longest_default) : unstated;
  scenario.training.global_batch = gpus;
  return scenario;
}

// The names and order are those of enum CheckpointKind: from no recomputation to all of it.
Proposal propose(const DataDirectory& data, const Model& model, int gpus) {
  Proposal proposal{scenario_for(data, model, gpus), {}};
  for (const CheckpointKind kind :
       {CheckpointKind::none, CheckpointKind::selective, CheckpointKind::full}) {
    proposal.scenario.training.activation_checkpointing = kind;
    proposal.memory = fullest_stage(data, proposal.scenario);
    if (proposal.memory.verdict == workloads::FitVerdict::fits) break;
  }
  return proposal;
}

// Text in a comment must not end it, and text in a value must stay one: names come from a file.
std::string yaml_text(std::string_view text) {
  std::string result = "\"";
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') result += '\\';
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += character;
    }
  }
  return result + '"';
}

std::string one_line(std::string_view text) {
  const std::string safe = yaml_text(text);
  return safe.substr(1, safe.size() - 2);
}

// «# label: items», broken into lines.
std::string comment(const std::string& label, const std::string& text) {
  constexpr std::size_t width = 96;
  std::string result;
  std::string line = "# " + label + ":";
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string word(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.size() + 1 + word.size() > width && line.size() > 4) {
      result += line + '\n';
      line = "#  ";
    }
    line += ' ' + word;
  }
  return result + line + '\n';
}

std::string what_was_read(const Model& model) {
  std::string text = fmt::format(
      "{} model, {} layers, hidden {}, {} heads of {}, {} kv heads, ffn {} ({}), vocabulary {}{}; ",
      one_line(model.model_type), model.layers, model.hidden, model.heads, model.head_dim,
      model.kv_heads, model.ffn, workloads::to_string(model.activation), model.vocabulary,
      model.tied_embeddings ? ", tied embeddings" : "");
  const auto parameters = static_cast<double>(workloads::parameter_count(model));
  return text + fmt::format("{:.3f} B parameters", parameters * 1e-9);
}

std::string what_is_assumed(const Proposal& proposal) {
  const auto& training = proposal.scenario.training;
  const workloads::MemoryReport& memory = proposal.memory;
  const Bytes used = memory.peak_reserved + memory.outside;
  std::string text =
      "all blocks but model, for a config.json does not say how the model is trained. "
      "Activation checkpointing is ";
  text += workloads::to_string(training.activation_checkpointing);
  text += memory.fits ? fmt::format(", the least that fits: {:.1f} of {:.2f} GiB a GPU.",
                                    used.gib(), memory.capacity.gib())
                      : fmt::format(
                            ", yet {:.1f} GiB a GPU do not fit in {:.2f} GiB; take more "
                            "GPUs.",
                            used.gib(), memory.capacity.gib());
  return text;
}

std::string listed(const std::vector<std::string>& items, const char* separator) {
  std::vector<std::string> safe;
  for (const std::string& item : items) safe.push_back(one_line(item));
  return fmt::format("{}", fmt::join(safe, separator));
}

std::string header(const HuggingFaceImport& request, const workloads::ModelFile& file,
                   const Proposal& proposal) {
  std::string text = fmt::format("# Made by «stepsim import hf {}».\n", one_line(request.config));
  text += comment("read", what_was_read(file.model));
  text += comment("assumed", what_is_assumed(proposal));
  text += comment("ignored", file.ignored.empty() ? "nothing" : listed(file.ignored, ", "));
  if (!file.notes.empty()) text += comment("note", listed(file.notes, "; "));
  return text;
}

// The config as a reader of the scenario file finds it: relative to the file's folder.
std::string reference(const HuggingFaceImport& request) {
  namespace fs = std::filesystem;
  const fs::path config(request.config);
  if (config.is_absolute()) return config.string();
  if (!request.output) return (config.has_parent_path() ? config : "./" / config).string();
  const fs::path folder = fs::absolute(*request.output).parent_path().lexically_normal();
  const fs::path relative = fs::absolute(config).lexically_normal().lexically_relative(folder);
  return (relative.has_parent_path() ? relative : "./" / relative).string();
}

std::string blocks(const HuggingFaceImport& request, const Scenario& scenario) {
  const bool whole_nodes =
      scenario.cluster.gpus == scenario.cluster.nodes * scenario.cluster.node.gpus;
  const std::string gpus = whole_nodes ? "" : fmt::format("  gpus: {}\n", scenario.cluster.gpus);
  return fmt::format(
      "model: {}\n"
      "cluster:\n"
      "  node: {}\n"
      "  nodes: {}\n"
      "{}"
      "plan:\n"
      "  strategy: fsdp2\n"
      "  shard: {}\n"
      "training:\n"
      "  sequence_length: {}\n"
      "  micro_batch: {}  # sequences a GPU and micro-batch\n"
      "  global_batch: {}  # sequences a step\n"
      "  precision: bf16\n"
      "  activation_checkpointing: {}\n",
      yaml_text(reference(request)), scenario.cluster.node.name, scenario.cluster.nodes, gpus,
      scenario.plan.shard, scenario.training.sequence_length, scenario.training.micro_batch,
      scenario.training.global_batch,
      workloads::to_string(scenario.training.activation_checkpointing));
}

void check_gpus(int gpus) {
  if (gpus >= 1 && gpus <= most_gpus) return;
  throw InputError(Diagnostic{{},
                              "--gpus",
                              fmt::format("{} is no number of GPUs", gpus),
                              fmt::format("1 to {}", most_gpus),
                              ""});
}

}  // namespace

std::string import_hugging_face(const DataDirectory& data, const HuggingFaceImport& request) {
  check_gpus(request.gpus);
  const workloads::ModelFile file = workloads::load_hf_config(request.config);
  const Proposal proposal = propose(data, file.model, request.gpus);
  return header(request, file, proposal) + blocks(request, proposal.scenario);
}

}  // namespace stepsim::scenarios
