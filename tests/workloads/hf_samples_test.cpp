// Reads real config.json files that are not ours to commit: every dense one must load with the
// parameters its model has, every other must be refused with the key that is the reason. The folder
// is a neighbour of the source tree; without it the test is skipped (exit code 77).

#include "workloads/hf_config.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

using namespace stepsim;
using namespace stepsim::workloads;

namespace {

/// Published counts (safetensors metadata or model card) of the files known to us; opt-tiny is a
/// test's own size, counted by hand.
const std::map<std::string, std::int64_t> parameters_of = {
    {"bloom-176b", 176'247'271'424},
    {"gemma2-27b", 27'227'128'320},
    {"gpt2", 124'439'808},
    {"gpt_neox-redpajama-3b", 2'775'864'320},
    {"llama-2-70b", 68'976'648'192},
    {"llama-2-7b", 6'738'415'616},
    {"meta-llama--Meta-Llama-3.1-70B", 70'553'706'496},
    {"meta-llama--Meta-Llama-3.1-8B", 8'030'261'248},
    {"mistral-7b-v0.1", 7'241'732'096},
    {"olmo2-7b", 7'298'617'344},
    {"phi-3.5-mini", 3'821'079'552},
    // 2 blocks of 4·256² + 2·256·512 weights and 4·256 + 512 + 256 + 4·256 biases and norms, a
    // table of 248,320 tokens, 514 positions, a final norm.
    {"opt-tiny", 2 * (524'288 + 2'816) + 248'320 * 256 + 514 * 256 + 512},
};

const std::vector<std::string> reasons = {"num_experts",
                                          "num_local_experts",
                                          "n_routed_experts",
                                          "kv_lora_rank",
                                          "num_nextn_predict_layers",
                                          "text_config.num_local_experts",
                                          "text_config.attention_chunk_size"};

std::string check_loaded(const ModelFile& file) {
  const auto expected = parameters_of.find(file.model.name);
  if (expected == parameters_of.end()) return "";
  const std::int64_t count = parameter_count(file.model);
  if (count == expected->second) return "";
  return "has " + std::to_string(count) + " parameters instead of " +
         std::to_string(expected->second);
}

std::string check_refused(const std::string& name, const InputError& error) {
  if (parameters_of.count(name) > 0) return std::string("is refused: ") + error.what();
  for (const Diagnostic& diagnostic : error.diagnostics()) {
    if (std::find(reasons.begin(), reasons.end(), diagnostic.path) == reasons.end() ||
        diagnostic.where.line == 0) {
      return std::string("is refused for another reason: ") + error.what();
    }
  }
  return "";
}

std::string check(const std::filesystem::path& path) {
  try {
    return check_loaded(load_hf_config(path.string()));
  } catch (const InputError& error) {
    const std::string stem = path.stem().string();
    return check_refused(stem.substr(0, stem.rfind(".config")), error);
  }
}

}  // namespace

int main() {
  const std::filesystem::path folder =
      std::filesystem::path(STEPSIM_SOURCE_DIRECTORY) / "../shared/samples/hf";
  if (!std::filesystem::is_directory(folder)) {
    std::printf("skipped: there is no %s\n", folder.c_str());
    return 77;
  }
  int files = 0;
  int failures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string problem = check(entry.path());
    ++files;
    if (problem.empty()) continue;
    ++failures;
    std::printf("%s %s\n", entry.path().c_str(), problem.c_str());
  }
  std::printf("%d files, %d failures\n", files, failures);
  return files == 0 || failures > 0 ? 1 : 0;
}
