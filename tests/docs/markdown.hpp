#pragma once

/// The parts of a Markdown file that can be put to the test: fenced blocks, the commands and output
/// in console blocks, and links.

#include <istream>
#include <string>
#include <vector>

namespace stepsim::docs {

/// «```language words…» up to the closing fence.
struct Block {
  std::string language;
  std::vector<std::string> words;
  std::size_t line = 0;  // of the opening fence, counted from 1
  std::vector<std::string> lines;

  bool has(const std::string& word) const;
  /// NAME of a word «file=NAME», or an empty string.
  std::string file_name() const;
};

/// All fenced blocks in order. Throws std::runtime_error for one that is never closed.
std::vector<Block> fenced_blocks(std::istream& markdown);

/// «$ text» of a console block and the lines up to the next «$ ». A command that ends in a
/// backslash goes on in the next line.
struct Command {
  std::string text;
  std::size_t line = 0;
  std::vector<std::string> output;
};
/// Throws std::runtime_error for output before the first command.
std::vector<Command> console_commands(const Block& block);

struct Link {
  std::string target;  // without «#anchor»
  std::size_t line = 0;
};
/// Links and images that lead to files: no addresses, no anchors within the page, none in blocks.
std::vector<Link> file_links(std::istream& markdown);

/// Paths of the repository in «`folder/…`» outside of blocks; not those with a NAME to fill in.
std::vector<Link> file_mentions(std::istream& markdown);

}  // namespace stepsim::docs
