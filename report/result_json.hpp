#pragma once

/// The answer as JSON, schema «stepsim.result/1»: see docs/result-format.md for every key. Numbers
/// are derived from whole picoseconds, so that `clocks` and `timeline` each sum to `step_time_s`;
/// the document is the same to the byte between equal runs, but for `simulation` and
/// `provenance.build`.

#include "report/table.hpp"

#include "scenarios/simulate.hpp"
#include "scenarios/step_result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace stepsim::report {

nlohmann::ordered_json run_json(const scenarios::Scenario& scenario,
                                const scenarios::StepResult& result);

nlohmann::ordered_json memory_json(const scenarios::Scenario& scenario,
                                   const scenarios::MemoryAnswer& answer);

/// The provenance block: version, build, data files, assumptions, seed.
nlohmann::ordered_json provenance_json(const std::vector<scenarios::ProfileUse>& profiles,
                                       const std::vector<std::string>& assumptions);

/// The scenario block: the effective configuration, defaults filled in, with a scenario file's
/// keys.
nlohmann::ordered_json scenario_json(const scenarios::Scenario& scenario);

/// Every leaf of a document as a row of «key» (dotted path) and «value»: the CSV and Markdown form
/// of a result.
Table key_value_table(const nlohmann::ordered_json& document);

/// A table as a list of objects, one a row; cells of right-aligned columns that read as numbers are
/// numbers, empty cells null.
nlohmann::ordered_json table_json(const Table& table);

/// The document as text, indented by two, with a final newline. Bytes of names that are not UTF-8
/// become replacement characters.
std::string to_json_text(const nlohmann::ordered_json& document);

}  // namespace stepsim::report
