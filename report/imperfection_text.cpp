#include "report/imperfection_text.hpp"

#include "report/text_format.hpp"
#include "report/text_sections.hpp"

#include <fmt/format.h>

namespace stepsim::report {

namespace {

/// «54 d», «3.09 h», «13.6 min» or shorter times as everywhere.
std::string long_time(double seconds) {
  if (seconds >= 86'400) return three_digits(seconds / 86'400) + " d";
  if (seconds >= 3'600) return three_digits(seconds / 3'600) + " h";
  if (seconds >= 60) return three_digits(seconds / 60) + " min";
  return human_time(seconds);
}

}  // namespace

std::vector<std::string> noise_parts(const scenarios::StepResult& result) {
  if (!result.distribution) return {};
  const scenarios::StepDistribution& steps = *result.distribution;
  return {"mean " + human_time(steps.mean), "p10 " + human_time(steps.p10),
          "p50 " + human_time(steps.p50), "p90 " + human_time(steps.p90),
          "max " + human_time(steps.most)};
}

std::vector<std::string> long_run_parts(const scenarios::StepResult& result) {
  if (!result.goodput) return {};
  const scenarios::Goodput& goodput = *result.goodput;
  std::vector<std::string> parts = {
      fmt::format("goodput {} ({} to {} in 8 of 10 runs)", percent(goodput.mean.work),
                  percent(goodput.p10), percent(goodput.p90)),
      "effective MFU " + percent(result.mfu * goodput.mean.work),
      fmt::format("checkpoints {}, lost {}, restarts {}", percent(goodput.mean.checkpoints),
                  percent(goodput.mean.lost), percent(goodput.mean.restarts)),
      fmt::format("a failure every {}", long_time(goodput.run.mean_time_between_failures_s)),
      fmt::format("a checkpoint every {}", long_time(goodput.run.checkpoint_interval_s))};
  if (goodput.interval_is_optimum) {
    parts.back() += ", the optimum (Daly)";
  } else {
    parts.push_back(fmt::format("the optimum (Daly) is {}: goodput {}",
                                long_time(goodput.daly_interval_s),
                                percent(goodput.at_daly_interval)));
  }
  return parts;
}

std::string noise_section(const scenarios::StepResult& result, const Style& style) {
  if (!result.distribution) return {};
  const scenarios::StepDistribution& steps = *result.distribution;
  return heading(style, "Noise",
                 fmt::format("the step over {} seeds; all else here is of seed {}, the median",
                             steps.seeds, steps.median_seed)) +
         part_lines(noise_parts(result), style);
}

std::string long_run_section(const scenarios::StepResult& result, const Style& style) {
  if (!result.goodput) return {};
  return heading(style, "Long run",
                 fmt::format("{} simulated runs of {} with failures", result.goodput->runs,
                             long_time(result.goodput->run.length_s))) +
         part_lines(long_run_parts(result), style);
}

}  // namespace stepsim::report
