#pragma once

/// The pieces of the answer of `stepsim run` that text and Markdown share.

#include "report/table.hpp"

#include "scenarios/scenario.hpp"
#include "scenarios/step_result.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace stepsim::report {

constexpr const char* clocks_note = "what the critical path spends the step on, and most of each";
constexpr const char* time_line_note = "what a GPU does, mean over ranks";
constexpr const char* communication_note =
    "a rank and step; busy overlaps with compute, exposed does not";

/// `part` of `whole`; 0 when the whole is nothing.
double share_of(Time part, Time whole);

/// Convention and peak of the utilisation.
std::vector<std::string> flops_parts(const scenarios::Scenario& scenario,
                                     const scenarios::StepResult& result);
/// «Step time  7.36 s», then rates and utilisation.
std::vector<std::string> step_parts(const scenarios::StepResult& result);
/// «80 % interval  6.9 s to 8.4 s: …», the interval that holds 80 % of measured steps.
std::string uncertainty_sentence(const scenarios::StepResult& result);
/// The measured step, how far off the prediction is, and the measurement's source.
std::vector<std::string> measured_parts(const scenarios::Scenario& scenario,
                                        const scenarios::StepResult& result);
/// «slow rank 17 30 ms (compute)»: most of what sharing and declared slow parts added.
std::vector<std::string> added_parts(const scenarios::StepResult& result);

/// «gemm up 22 %, attention backward 9 %»: most of what a clock consists of, as shares of the step,
/// in at most `width` columns. The three products of a linear module count as one.
std::string contributors(const scenarios::StepResult& result, sim::Clock clock, std::size_t width);

/// « (launch 70.0 us, copy 60.6 us)», or nothing.
std::string idle_causes(const sim::TimeLine& line);

/// A row a group and operation.
Table communication_table(const sim::TimeLine& line);

}  // namespace stepsim::report
