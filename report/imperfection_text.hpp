#pragma once

/// The paragraphs of `stepsim run` on clusters that are not perfect: uneven steps, failures.

#include "report/terminal_style.hpp"

#include "scenarios/step_result.hpp"

#include <string>
#include <vector>

namespace stepsim::report {

/// The distribution of the step over seeds, as short parts; empty without noise.
std::vector<std::string> noise_parts(const scenarios::StepResult& result);
/// Goodput of a long run, the optimal checkpoint interval, as short parts; empty without failures.
std::vector<std::string> long_run_parts(const scenarios::StepResult& result);

/// The same under headings; empty when there is nothing to say.
std::string noise_section(const scenarios::StepResult& result, const Style& style);
std::string long_run_section(const scenarios::StepResult& result, const Style& style);

}  // namespace stepsim::report
