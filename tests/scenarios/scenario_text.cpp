#include "tests/scenarios/scenario_text.hpp"

#include "sim/base/error.hpp"

#include <unistd.h>

#include <atomic>
#include <fstream>

namespace stepsim::scenarios {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  static std::atomic<int> next{0};
  path_ = fs::temp_directory_path() /
          ("stepsim_scenarios_" + std::to_string(getpid()) + "_" + std::to_string(next++));
  fs::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& bytes) const {
  const fs::path file = path_ / name;
  std::ofstream(file, std::ios::binary) << bytes;
  return file.string();
}

DataDirectory test_data() { return DataDirectory(STEPSIM_TEST_DATA); }

std::string scenario_text(const std::map<int, std::string>& changed_lines) {
  std::vector<std::string> lines{
      "model: llama3-8b",          // 1
      "cluster:",                  // 2
      "  node: dgx-h100",          // 3
      "  nodes: 2",                // 4
      "plan:",                     // 5
      "  strategy: fsdp2",         // 6
      "  shard: 16",               // 7
      "training:",                 // 8
      "  sequence_length: 8192",   // 9
      "  micro_batch: 1",          // 10
      "  global_batch: 16",        // 11
      "software: {compile: true}"  // 12
  };
  std::string text;
  for (const auto& [line, replacement] : changed_lines) {
    lines.at(static_cast<std::size_t>(line - 1)) = replacement;
  }
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

Scenario load_text(const std::string& text, const std::vector<std::string>& overrides) {
  const TemporaryFolder folder;
  return load_scenario(test_data(), folder.write("s.yaml", text), overrides);
}

std::string complaint_of_file(const TemporaryFolder& folder, const std::string& name,
                              const std::vector<std::string>& overrides) {
  try {
    load_scenario(test_data(), (folder.path() / name).string(), overrides);
  } catch (const InputError& error) {
    std::string text = error.what();
    const std::string prefix = folder.path().string() + '/';
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
      text.erase(at, prefix.size());
    }
    return text;
  }
  return {};
}

std::string complaint(const std::string& text, const std::vector<std::string>& overrides) {
  const TemporaryFolder folder;
  folder.write("s.yaml", text);
  return complaint_of_file(folder, "s.yaml", overrides);
}

}  // namespace stepsim::scenarios
