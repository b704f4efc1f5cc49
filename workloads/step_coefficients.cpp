#include "workloads/step_coefficients.hpp"

#include "sim/base/document.hpp"
#include "sim/base/error.hpp"
#include "sim/base/object_reader.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim::workloads {

namespace {

using topology::Architecture;

constexpr Number factor{.least = 0.1, .most = 10};
constexpr Number spread{.least = 0, .most = 3};
constexpr Number ratio{.least = 0, .most = 10};

const Choices<Architecture>& generation_words() {
  static const Choices<Architecture> words = {{"volta", Architecture::volta},
                                              {"ampere", Architecture::ampere},
                                              {"hopper", Architecture::hopper},
                                              {"blackwell", Architecture::blackwell}};
  return words;
}

void read_coefficient(ObjectReader& parent, const std::string& name,
                      std::vector<StepCoefficient>& coefficients) {
  const DocumentNode* node = parent.take(name);
  if (node == nullptr) return;
  ObjectReader reader(*node, parent.path_of(name), parent.diagnostics());
  StepCoefficient read;
  read.name = name;
  reader.required("value", read.value, factor);
  reader.required("prior", read.prior, factor);
  reader.required("prior_spread", read.prior_spread, spread);
  reader.required("spread", read.spread, spread);
  reader.required("evidence", read.evidence);
  reader.finish();
  if (reader.ok()) coefficients.push_back(std::move(read));
}

StepCoefficientSet read_set(const DocumentNode& node, const std::string& path,
                            Diagnostics& problems) {
  ObjectReader reader(node, path, problems);
  StepCoefficientSet set;
  reader.required("generation", set.generation, generation_words());
  reader.required("stack", set.stack);
  reader.required("fitted_to", set.fitted_to);
  reader.optional("sources", set.sources);
  reader.optional("interval_low", set.interval_low, ratio);
  reader.optional("interval_high", set.interval_high, ratio);
  for (const std::string& name : step_coefficient_names())
    read_coefficient(reader, name, set.coefficients);
  reader.finish();
  return set;
}

}  // namespace

double clock_share_of(double power_limit_watts, double datasheet_watts) {
  return power_limit_watts < datasheet_watts ? std::sqrt(power_limit_watts / datasheet_watts) : 1;
}

StepCoefficientFile load_step_coefficients(const DataDirectory& data) {
  return read_step_coefficients(data.file("workloads", "step_coefficients.yaml").string());
}

StepCoefficientFile read_step_coefficients(const std::string& file) {
  const Document document = read_document(file);
  Diagnostics problems;
  ObjectReader reader(document.root, "", problems);
  StepCoefficientFile read{{}, document.file, document.hash};
  if (const DocumentNode* sets = reader.take_required("sets")) {
    for (std::size_t i = 0; i < sets->items.size(); ++i)
      read.sets.push_back(read_set(sets->items[i], "sets[" + std::to_string(i) + ']', problems));
  }
  reader.finish();
  problems.throw_if_any();
  return read;
}

const StepCoefficientSet* find_set(const StepCoefficientFile& file, Architecture generation,
                                   const std::string& stack) {
  const auto found =
      std::find_if(file.sets.begin(), file.sets.end(), [&](const StepCoefficientSet& set) {
        return set.generation == generation && set.stack == stack;
      });
  return found == file.sets.end() ? nullptr : &*found;
}

StepCoefficients values_of(const StepCoefficientSet& set) {
  StepCoefficients values;
  for (const StepCoefficient& coefficient : set.coefficients)
    field_of(values, coefficient.name) = coefficient.value;
  return values;
}

double& field_of(StepCoefficients& coefficients, const std::string& name) {
  if (name == "gemm_time") return coefficients.gemm_time;
  if (name == "attention_time") return coefficients.attention_time;
  if (name == "memory_time") return coefficients.memory_time;
  if (name == "interference") return coefficients.interference;
  throw InternalError("there is no step coefficient «" + name + "»");
}

const std::vector<std::string>& step_coefficient_names() {
  static const std::vector<std::string> names = {"gemm_time", "attention_time", "memory_time",
                                                 "interference"};
  return names;
}

}  // namespace stepsim::workloads
