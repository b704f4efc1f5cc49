#pragma once

/// A number together with where it came from. Every constant of a profile is one of these, and what
/// a prediction rests on is the worst source among the numbers it used.

#include <string>

namespace stepsim {

enum class SourceKind { datasheet, measured, fitted, assumed };
const char* to_string(SourceKind kind);

struct Source {
  SourceKind kind = SourceKind::assumed;
  std::string
      note;  // which datasheet, which file and date, which data set and error, or why assumed
};

template <class Value>
struct Sourced {
  Value value{};
  Source source;
};

}  // namespace stepsim
