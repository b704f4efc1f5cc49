#include "scenarios/range_problems.hpp"

#include <string>

namespace stepsim::scenarios {

InputError beyond_range(const Scenario& scenario, const RangeError& error) {
  const DocumentEntry* block = scenario.document.find_entry("training");
  const SourceLocation where = block != nullptr ? block->where() : SourceLocation{scenario.file};
  return InputError(Diagnostic{where, "training",
                               std::string("asks for more than can be simulated: ") + error.what(),
                               "shorter sequences, a smaller batch or a smaller model", ""});
}

}  // namespace stepsim::scenarios
