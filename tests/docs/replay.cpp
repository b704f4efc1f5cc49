/// replay [--update] STEPSIM ROOT DOCUMENT
/// Runs the commands of a document's console blocks and fails when one exits or prints otherwise
/// than shown, loads its YAML blocks, and looks up the files it links to or names. With --update
/// the document's output is replaced by what was printed.
///
/// - Commands run in a scratch folder in which the repository's folders can be read; STEPSIM is
/// what
///   «stepsim» means. «scripts/run FILE» is replayed as «stepsim run FILE»; of any other script
///   only that it exists is checked, as is done with cmake and git.
/// - A command exits 0, unless the next command is «echo $?», which then shows what it exits with.
/// - A block «yaml» must load as a scenario; with «file=NAME» it is also there for later commands
/// to
///   read under that name. «yaml fragment» is not loaded.

#include "tests/docs/markdown.hpp"
#include "tests/docs/output_match.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace {

namespace fs = std::filesystem;
using namespace stepsim::docs;

struct Outcome {
  int exit_code = 0;
  std::vector<std::string> lines;
};

bool starts_with(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// A folder that shows the repository's folders and takes what commands write.
class Scratch {
 public:
  Scratch(const fs::path& root, const fs::path& stepsim) {
    std::string name = (fs::temp_directory_path() / "stepsim-docs-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    folder_ = name;
    for (const char* entry : {"scenarios", "topology", "workloads", "docs", "README.md"}) {
      if (fs::exists(root / entry)) fs::create_symlink(root / entry, folder_ / entry);
    }
    fs::create_directory(folder_ / ".bin");
    fs::create_symlink(stepsim, folder_ / ".bin/stepsim");
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { fs::remove_all(folder_); }

  void write(const std::string& name, const std::vector<std::string>& lines) const {
    std::ofstream file(folder_ / name);
    for (const std::string& line : lines) file << line << '\n';
  }

  Outcome run(const std::string& command) const {
    write(".bin/command", {"set -o pipefail", command});
    const std::string shell = "cd '" + folder_.string() +
                              "' && PATH=\"$PWD/.bin:$PATH\" bash .bin/command 2>&1 </dev/null";
    FILE* pipe = popen(shell.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot start a shell");
    std::string text;
    char buffer[4096];
    for (std::size_t count; (count = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
      text.append(buffer, count);
    }
    const int status = pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), split_lines(text)};
  }

 private:
  fs::path folder_;
};

class Replay {
 public:
  Replay(fs::path root, const fs::path& stepsim, fs::path document)
      : root_(std::move(root)), document_(std::move(document)), scratch_(root_, stepsim) {}

  /// Number of things checked.
  int check() {
    std::ifstream file(document_);
    if (!file) throw std::runtime_error("cannot read " + document_.string());
    check_present(document_.parent_path(), file_links(file));
    rewind(file);
    check_present(root_, file_mentions(file));
    rewind(file);
    for (const Block& block : fenced_blocks(file)) {
      if (block.language == "console") check_console(block);
      if (block.language == "yaml") check_yaml(block);
    }
    return checked_;
  }

  int problems() const { return problems_; }

  /// Puts what was printed in the place of what differs.
  void update() const {
    std::ifstream file(document_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
      const auto first = lines.begin() + static_cast<std::ptrdiff_t>(change->first_line - 1);
      const auto at = lines.erase(first, first + static_cast<std::ptrdiff_t>(change->line_count));
      lines.insert(at, change->lines.begin(), change->lines.end());
    }
    std::ofstream out(document_);
    for (const std::string& line : lines) out << line << '\n';
  }

 private:
  struct Change {
    std::size_t first_line;
    std::size_t line_count;
    std::vector<std::string> lines;
  };

  void problem(std::size_t line, const std::string& what) {
    ++problems_;
    std::cerr << document_.string() << ':' << line << ": " << what << '\n';
  }

  static void rewind(std::istream& file) {
    file.clear();
    file.seekg(0);
  }

  void check_present(const fs::path& folder, const std::vector<Link>& links) {
    for (const Link& link : links) {
      ++checked_;
      if (!fs::exists(folder / link.target)) {
        problem(link.line, "nothing is at «" + link.target + "»");
      }
    }
  }

  void check_yaml(const Block& block) {
    const std::string name = block.file_name();
    if (!name.empty()) scratch_.write(name, block.lines);
    if (block.has("fragment")) return;
    ++checked_;
    scratch_.write(".bin/block.yaml", block.lines);
    const Outcome outcome = scratch_.run("stepsim memory .bin/block.yaml");
    if (outcome.exit_code > 1) {
      problem(block.line, "does not load:");
      for (const std::string& line : outcome.lines) std::cerr << "  " << line << '\n';
    }
  }

  void check_console(const Block& block) {
    const std::vector<Command> commands = console_commands(block);
    int last_exit_code = 0;
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const Command& command = commands[i];
      ++checked_;
      if (command.text == "echo $?") {
        compare(command, {0, {std::to_string(last_exit_code)}});
        continue;
      }
      if (!is_replayed(command)) continue;
      const Outcome outcome = scratch_.run(as_run(command.text));
      last_exit_code = outcome.exit_code;
      const bool exit_code_shown = i + 1 < commands.size() && commands[i + 1].text == "echo $?";
      if (outcome.exit_code != 0 && !exit_code_shown) {
        problem(command.line, "exits " + std::to_string(outcome.exit_code));
      }
      compare(command, outcome);
    }
  }

  static std::string as_run(const std::string& command) {
    const std::string script = "scripts/run ";
    return starts_with(command, script) ? "stepsim run " + command.substr(script.size()) : command;
  }

  /// False for what is only looked up, or cannot be replayed at all (a problem).
  bool is_replayed(const Command& command) {
    const std::string word = command.text.substr(0, command.text.find(' '));
    if (word == "stepsim" || word == "scripts/run" || word == "cat") return true;
    if (word == "git" || word == "cmake" || word == "cd") return false;
    if (!starts_with(word, "scripts/") || !fs::exists(root_ / word)) {
      problem(command.line, "cannot replay «" + command.text + "»");
    }
    return false;
  }

  void compare(const Command& command, const Outcome& outcome) {
    if (output_matches(command.output, outcome.lines)) return;
    problem(command.line, "«" + command.text + "» prints otherwise than shown:");
    for (const std::string& line : outcome.lines) std::cerr << "  " << line << '\n';
    const auto continuation_lines =
        static_cast<std::size_t>(std::count(command.text.begin(), command.text.end(), '\n'));
    changes_.push_back({command.line + 1 + continuation_lines, command.output.size(),
                        updated_output(command.output, outcome.lines)});
  }

  fs::path root_;
  fs::path document_;
  Scratch scratch_;
  std::vector<Change> changes_;
  int checked_ = 0;
  int problems_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool update = !arguments.empty() && arguments[0] == "--update";
  if (update) arguments.erase(arguments.begin());
  if (arguments.size() != 3) {
    std::cerr << "usage: replay [--update] STEPSIM ROOT DOCUMENT\n";
    return 2;
  }
  Replay replay(fs::absolute(arguments[1]), fs::absolute(arguments[0]), fs::absolute(arguments[2]));
  std::cout << replay.check() << " commands, blocks and links checked, " << replay.problems()
            << " problems\n";
  if (update) replay.update();
  return replay.problems() == 0 || update ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "replay: " << error.what() << '\n';
  return 1;
}
