#pragma once

/// Scenario files for tests: a good one, and changes of it.

#include "scenarios/scenario.hpp"

#include "sim/base/data_directory.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace stepsim::scenarios {

/// A folder that lives as long as the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string write(const std::string& name, const std::string& bytes) const;

 private:
  std::filesystem::path path_;
};

/// The data files of the source tree.
DataDirectory test_data();

/// A scenario of twelve lines that loads, with some of its lines (from 1) replaced.
std::string scenario_text(const std::map<int, std::string>& changed_lines = {});

Scenario load_text(const std::string& text, const std::vector<std::string>& overrides = {});

/// What loading the text says when it throws, the folder taken out of paths; empty when it loads.
std::string complaint(const std::string& text, const std::vector<std::string>& overrides = {});
/// The same of a file in `folder`.
std::string complaint_of_file(const TemporaryFolder& folder, const std::string& name,
                              const std::vector<std::string>& overrides = {});

}  // namespace stepsim::scenarios
