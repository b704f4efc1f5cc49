#pragma once

/// The kinds of failure. InputError is the user's to mend (exit code 2) and carries every problem
/// that was found; RangeError is a quantity outside what the simulator can represent (exit code 2);
/// InternalError is ours (exit code 3). Only the command line catches and exits.

#include <stdexcept>
#include <string>
#include <vector>

namespace stepsim {

/// A place in an input file. Lines and columns count from 1; 0 means «not known».
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
  /// «file:line:column», leaving out what is not known.
  std::string to_string() const;
};

/// One problem of an input, printed as «file:line:column: key.path: problem (expected …)
/// (did you mean "…"?)».
struct Diagnostic {
  SourceLocation where;
  std::string path;        // dotted path of the key, such as cluster.node; may be empty
  std::string problem;     // what is wrong, with the value
  std::string expected;    // what would be right; may be empty
  std::string suggestion;  // nearest valid choice; may be empty
  std::string to_string() const;
};

/// Something in the user's input is wrong. what() lists every diagnostic, one a line.
class InputError : public std::runtime_error {
 public:
  explicit InputError(Diagnostic diagnostic);
  explicit InputError(std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// A quantity left the range the simulator can represent.
class RangeError : public std::range_error {
 public:
  using std::range_error::range_error;
};

/// A broken promise inside the simulator.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The candidate nearest to `word` in any case: one letter away (or two swapped), else one it is
/// short for (seq_len, sequence_length), else a few letters away; empty when none is likely.
std::string nearest_choice(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace stepsim
