#include "report/refit_text.hpp"

#include "report/text_format.hpp"
#include "report/text_sections.hpp"

#include <fmt/format.h>

namespace stepsim::report {

namespace {

std::string mean_text(const scenarios::ErrorSummary& errors) {
  return errors.count == 0 ? "" : fmt::format("{:.1f}", 100 * errors.mean);
}

Table groups_table(const std::vector<scenarios::RefitGroup>& groups) {
  Table table{{{"generation"},
               {"stack"},
               {"steps", Align::right},
               {"models", Align::right},
               {"priors", Align::right},
               {"fitted", Align::right},
               {"model_out", Align::right},
               {"suite_out", Align::right},
               {"taken"}},
              {}};
  for (const scenarios::RefitGroup& group : groups)
    table.add_row({scenarios::generation_name(group.set.generation), inert(group.set.stack),
                   std::to_string(group.rows), std::to_string(group.models),
                   mean_text(group.unfitted), mean_text(group.in_sample),
                   mean_text(group.without_model), mean_text(group.without_source),
                   group.accepted ? "yes" : "no"});
  return table;
}

}  // namespace

Table refit_table(const std::vector<scenarios::RefitGroup>& groups) {
  Table table{{{"generation"},
               {"stack"},
               {"coefficient"},
               {"value", Align::right},
               {"spread", Align::right},
               {"prior", Align::right},
               {"prior_spread", Align::right}},
              {}};
  for (const scenarios::RefitGroup& group : groups) {
    for (const workloads::StepCoefficient& c : group.set.coefficients)
      table.add_row({scenarios::generation_name(group.set.generation), inert(group.set.stack),
                     c.name, fmt::format("{:.3f}", c.value), fmt::format("{:.3f}", c.spread),
                     fmt::format("{:.3f}", c.prior), fmt::format("{:.3f}", c.prior_spread)});
  }
  return table;
}

std::string refit_text(const std::vector<scenarios::RefitGroup>& groups, bool as_shipped,
                       const Style& style) {
  std::string text = heading(style, "Mean errors in %",
                             "of fit cases; model out, suite out: each predicted by a fit to the "
                             "others");
  text += to_text(groups_table(groups));
  text += heading(style, "Coefficients", "spread: one standard deviation of the logarithm");
  text += to_text(refit_table(groups));
  for (const scenarios::RefitGroup& group : groups) {
    if (group.accepted)
      text += fmt::format("  {} {}: trade against each other: {}\n",
                          scenarios::generation_name(group.set.generation), inert(group.set.stack),
                          group.ridge);
  }
  return text +
         (as_shipped ? "\nAs shipped.\n" : "\nDiffers from workloads/step_coefficients.yaml.\n");
}

}  // namespace stepsim::report
