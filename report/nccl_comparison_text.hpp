#pragma once

/// A comparison of nccl-tests with the model: for people, as a table, and as JSON.

#include "report/table.hpp"
#include "report/terminal_style.hpp"

#include "calibrate/nccl_comparison.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace stepsim::report {

std::string nccl_comparison_text(const calibrate::NcclTestsLog& log,
                                 const calibrate::NcclComparison& comparison, const Style& style);

/// A row a size.
Table nccl_comparison_table(const calibrate::NcclComparison& comparison);

/// Schema «stepsim.nccl_tests/1».
nlohmann::ordered_json nccl_comparison_json(const calibrate::NcclTestsLog& log,
                                            const calibrate::NcclComparison& comparison);

/// One sentence: as expected, slow or fast, by how much, and the likeliest reason.
std::string nccl_verdict_sentence(const calibrate::NcclComparison& comparison);

}  // namespace stepsim::report
