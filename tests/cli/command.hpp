#pragma once

/// Runs the stepsim command as a user does, and looks at what it prints and how it exits.

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace stepsim::test {

struct Outcome {
  int exit_code = -1;  // 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

/// A folder that lives as long as the object.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// The path of a file in the folder; the second form writes it first.
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const;
  /// Names of what is in the folder, sorted.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path folder_;
};

/// Runs a bash script in which "$STEPSIM" is the command, from the root of the source tree.
Outcome shell(const std::string& script);

/// Runs «ENVIRONMENT stepsim ARGUMENTS» in a shell, from the root of the source tree.
Outcome run_stepsim(const std::string& arguments,
                    const std::string& environment = "LC_ALL=C.UTF-8");

/// The JSON that «stepsim ARGUMENTS --format json» prints.
nlohmann::ordered_json stepsim_json(const std::string& arguments);

std::string read_file(const std::string& path);
std::vector<std::string> lines_of(const std::string& text);
bool contains(const std::string& text, const std::string& part);

/// Every scenario that ships as an example.
std::vector<std::string> example_scenarios();

/// The main example of the product.
inline const std::string example = "scenarios/examples/llama3-70b-fsdp-64xh100.yaml";

}  // namespace stepsim::test
