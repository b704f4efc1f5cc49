// workloads/step_coefficients.yaml as text.

#include "scenarios/refit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stepsim::scenarios {

std::string generation_name(topology::Architecture generation) {
  switch (generation) {
    case topology::Architecture::volta:
      return "volta";
    case topology::Architecture::ampere:
      return "ampere";
    case topology::Architecture::hopper:
      return "hopper";
    case topology::Architecture::blackwell:
      return "blackwell";
  }
  return "";
}

namespace {

// What the fit rests on, for those who read the file.
std::string errors_comment(const RefitGroup& group) {
  if (group.unfitted.count == 0) return {};
  std::string text = fmt::format(
      "    # mean error {:.1f} % with the priors, {:.1f} % fitted, {:.1f} % on models left out",
      100 * group.unfitted.mean, 100 * group.in_sample.mean, 100 * group.without_model.mean);
  if (group.without_source.count > 0)
    text += fmt::format(", {:.1f} % on suites left out", 100 * group.without_source.mean);
  return text + fmt::format("; ridge: {}\n", group.ridge);
}

void append_set(std::string& text, const RefitGroup& group) {
  const workloads::StepCoefficientSet& set = group.set;
  text += fmt::format("  - generation: {}\n    stack: {}\n    fitted_to: \"{}\"\n",
                      generation_name(set.generation), set.stack, set.fitted_to);
  text += errors_comment(group);
  if (!set.sources.empty())
    text += fmt::format("    sources: [{}]\n    interval_low: {:.3g}\n    interval_high: {:.3g}\n",
                        fmt::join(set.sources, ", "), set.interval_low, set.interval_high);
  for (const workloads::StepCoefficient& c : set.coefficients)
    text += fmt::format(
        "    {}: {{ value: {:.4g}, prior: {:.4g}, prior_spread: {:.3g}, spread: {:.3g}, evidence: "
        "\"{}\" }}\n",
        c.name, c.value, c.prior, c.prior_spread, c.spread, c.evidence);
}

}  // namespace

std::string step_coefficients_text(const std::vector<RefitGroup>& groups) {
  std::string text =
      "# What kernels take inside training steps over what benchmarks of single kernels say.\n"
      "# Written by «stepsim validate --refit»; docs/accuracy.md says what each number means.\n"
      "# prior_spread and spread are standard deviations of the logarithm, before and after the "
      "fit;\n"
      "# interval_low and interval_high bound 80 % of measured / predicted on models left "
      "out.\n"
      "sets:\n";
  for (const RefitGroup& group : groups) append_set(text, group);
  return text;
}

}  // namespace stepsim::scenarios
