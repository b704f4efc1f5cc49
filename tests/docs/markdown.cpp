#include "tests/docs/markdown.hpp"

#include <algorithm>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace stepsim::docs {
namespace {

bool is_fence(const std::string& line) { return line.rfind("```", 0) == 0; }

Block opened_by(const std::string& fence, std::size_t line) {
  Block block;
  block.line = line;
  std::istringstream info(fence.substr(3));
  info >> block.language;
  for (std::string word; info >> word;) block.words.push_back(word);
  return block;
}

/// The first capture of every match, with its line.
std::vector<Link> captures_outside_blocks(std::istream& markdown, const std::regex& pattern) {
  std::vector<Link> captures;
  bool inside = false;
  std::size_t number = 0;
  for (std::string line; std::getline(markdown, line);) {
    ++number;
    if (is_fence(line)) inside = !inside;
    if (inside) continue;
    for (std::sregex_iterator hit(line.begin(), line.end(), pattern), end; hit != end; ++hit) {
      captures.push_back({(*hit)[1], number});
    }
  }
  return captures;
}

}  // namespace

bool Block::has(const std::string& word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string Block::file_name() const {
  for (const std::string& word : words) {
    if (word.rfind("file=", 0) == 0) return word.substr(5);
  }
  return {};
}

std::vector<Block> fenced_blocks(std::istream& markdown) {
  std::vector<Block> blocks;
  bool inside = false;
  std::size_t number = 0;
  for (std::string line; std::getline(markdown, line);) {
    ++number;
    if (!is_fence(line)) {
      if (inside) blocks.back().lines.push_back(line);
      continue;
    }
    if (!inside) blocks.push_back(opened_by(line, number));
    inside = !inside;
  }
  if (inside) {
    throw std::runtime_error("line " + std::to_string(blocks.back().line) + ": block not closed");
  }
  return blocks;
}

std::vector<Command> console_commands(const Block& block) {
  std::vector<Command> commands;
  bool continued = false;
  std::size_t number = block.line;
  for (const std::string& line : block.lines) {
    ++number;
    if (continued) {
      commands.back().text += "\n" + line;
    } else if (line.rfind("$ ", 0) == 0) {
      commands.push_back({line.substr(2), number, {}});
    } else if (commands.empty()) {
      throw std::runtime_error("line " + std::to_string(number) + ": output before a command");
    } else {
      commands.back().output.push_back(line);
      continue;
    }
    continued = !line.empty() && line.back() == '\\';
  }
  return commands;
}

std::vector<Link> file_links(std::istream& markdown) {
  static const std::regex pattern(R"(\]\(([^)\s#]+)(#[^)]*)?\))");
  std::vector<Link> links = captures_outside_blocks(markdown, pattern);
  const auto is_address = [](const Link& link) {
    return link.target.find("://") != std::string::npos;
  };
  links.erase(std::remove_if(links.begin(), links.end(), is_address), links.end());
  return links;
}

std::vector<Link> file_mentions(std::istream& markdown) {
  static const std::regex pattern(
      "`((sim|topology|workloads|calibrate|scenarios|report|cli|bench|docs|scripts|tests|cmake)"
      "/[a-z0-9_./-]*)`");
  return captures_outside_blocks(markdown, pattern);
}

}  // namespace stepsim::docs
