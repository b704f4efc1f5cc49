#include "tests/cli/command.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace stepsim::test {

namespace fs = std::filesystem;

Scratch::Scratch() {
  std::string name = (fs::temp_directory_path() / "stepsim-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  folder_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string Scratch::write(const std::string& name, const std::string& text) const {
  std::ofstream file(folder_ / name, std::ios::binary);
  file << text;
  return path(name);
}

std::vector<std::string> Scratch::names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Outcome shell(const std::string& script) {
  const Scratch scratch;
  const std::string file = scratch.write("script", script + '\n');
  const std::string command =
      "cd '" STEPSIM_SOURCE_DIRECTORY "' && STEPSIM='" STEPSIM_BINARY "' bash '" + file + "' >'" +
      scratch.path("out") + "' 2>'" + scratch.path("err") + "' </dev/null";
  const int status = std::system(command.c_str());
  Outcome outcome;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = read_file(scratch.path("out"));
  outcome.err = read_file(scratch.path("err"));
  return outcome;
}

Outcome run_stepsim(const std::string& arguments, const std::string& environment) {
  return shell(environment + " \"$STEPSIM\" " + arguments);
}

nlohmann::ordered_json stepsim_json(const std::string& arguments) {
  const Outcome outcome = run_stepsim(arguments + " --format json");
  return nlohmann::ordered_json::parse(outcome.out);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> example_scenarios() {
  const std::string folder = "scenarios/examples";
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(STEPSIM_SOURCE_DIRECTORY) + '/' + folder)) {
    if (entry.path().extension() != ".yaml") continue;
    files.push_back(folder + '/' + entry.path().filename().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace stepsim::test
