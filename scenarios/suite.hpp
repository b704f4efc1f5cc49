#pragma once

/// A suite: many measured steps in one file. Each case is a scenario merged over the suite's
/// defaults, key by key.

#include "scenarios/scenario.hpp"

#include "sim/base/data_directory.hpp"
#include "sim/base/document.hpp"

#include <string>
#include <vector>

namespace stepsim::scenarios {

/// What a case may be used for: coefficients may be fitted to `fit` rows and never to `check` rows.
enum class Use { fit, check };
const char* to_string(Use use);

struct SuiteCase {
  std::string id;
  Use use = Use::check;
  std::string stack;                 // the software stack, such as «fsdp-eager»; may be empty
  std::vector<std::string> assumed;  // keys that the source of the measurement does not state
  std::string excluded;              // why the case is not predicted; empty when it is
  DocumentNode document;             // the scenario: defaults and case merged
  SourceLocation where;
};

struct Suite {
  std::string name;
  std::string source;
  std::string file;
  std::string hash;
  std::vector<SuiteCase> cases;
  std::vector<std::string> scale_from;  // ids, at most most_scale_rows
};

/// Rows that the one-number regime may take its scale from.
constexpr std::size_t most_scale_rows = 5;

/// Reads the keys of a suite and of its cases, with `overrides` («path=value») applied to every
/// case. What a case's scenario says is read by scenario_of, so that one bad case does not hide the
/// others. Throws InputError with every problem of the file.
Suite load_suite(const std::string& file, const std::vector<std::string>& overrides = {});

/// The scenario of a case. Throws InputError with every problem of it.
Scenario scenario_of(const DataDirectory& data, const SuiteCase& suite_case);

/// `over` merged over `base`: blocks key by key, everything else replaced; null takes a key away.
DocumentNode merged(const DocumentNode& base, const DocumentNode& over);

}  // namespace stepsim::scenarios
