#include "scenarios/validate.hpp"

#include "scenarios/simulate.hpp"
#include "scenarios/validation_summary.hpp"

#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <string>

using namespace stepsim;
using namespace stepsim::scenarios;

namespace {

const std::string suite_text =
    "suite: s\n"
    "defaults:\n"
    "  model: llama3.2-1b\n"
    "  cluster: { node: dgx-h100, nodes: 1 }\n"
    "  plan: { strategy: fsdp2 }\n"
    "  training: { sequence_length: 4096 }\n"
    "cases:\n"
    "  - { id: a, use: fit, measured: { step_time: 200 ms } }\n"
    "  - { id: b, excluded: \"a typo in the source\" }\n"
    "  - { id: c, training: { micro_batch: 2 }, measured: { tokens_per_second: 300000 } }\n"
    "  - { id: d, training: { micro_batch: 0 }, measured: { step_time: 1 s } }\n"
    "  - { id: e }\n"
    "  - { id: f, training: { micro_batch: 3 }, measured: { mfu: 0.4 } }\n";

std::vector<CaseResult> validate_text(const std::string& text, int threads) {
  const TemporaryFolder folder;
  ValidationOptions options;
  options.threads = threads;
  return validate(test_data(), {load_suite(folder.write("suite.yaml", text))}, options);
}

ComparedStep step(const std::string& device, double measured_s, double predicted_s,
                  double ideal_s) {
  ComparedStep step;
  step.device = device;
  step.measured_s = measured_s;
  step.fitted_s = step.zero_shot_s = predicted_s;
  step.ideal_s = ideal_s;
  return step;
}

CaseResult compared(const std::string& suite, Use use, const ComparedStep& step) {
  CaseResult result;
  result.suite = suite;
  result.use = use;
  result.step = step;
  return result;
}

}  // namespace

TEST_CASE("every case becomes a comparison, an exclusion or a problem, in the suite's order") {
  const std::vector<CaseResult> results = validate_text(suite_text, 3);
  REQUIRE(results.size() == 6);
  const TemporaryFolder folder;
  const Suite suite = load_suite(folder.write("suite.yaml", suite_text));
  const Scenario first = scenario_of(test_data(), suite.cases.front());
  const double predicted_s = simulate_step(test_data(), first).step_time.seconds();

  REQUIRE(results[0].step);
  CHECK(results[0].step->fitted_s == predicted_s);
  CHECK(results[0].step->error() == Approx(predicted_s / 0.2 - 1));
  CHECK(results[0].step->metric == "step_time_s");
  CHECK_FALSE(results[1].step);
  CHECK(results[1].excluded == "a typo in the source");
  REQUIRE(results[2].step);
  const ComparedStep& rate = *results[2].step;
  CHECK(rate.metric == "tokens_per_second");
  CHECK(rate.measured_s == Approx(8 * 2 * 4096 / 300000.0));
  CHECK(rate.predicted * rate.fitted_s == Approx(8 * 2 * 4096));
  REQUIRE(results[3].problems.size() == 1);
  CHECK(results[3].problems.front().find("training.micro_batch: is 0") != std::string::npos);
  REQUIRE(results[4].problems.size() == 1);
  CHECK(results[4].problems.front().find("measured: is missing") != std::string::npos);
  REQUIRE(results[5].step);
  CHECK(results[5].step->metric == "mfu");
}

TEST_CASE("the number of threads does not change a result") {
  const std::vector<CaseResult> one = validate_text(suite_text, 1);
  const std::vector<CaseResult> many = validate_text(suite_text, 4);
  REQUIRE(one.size() == many.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    REQUIRE(one[i].step.has_value() == many[i].step.has_value());
    if (one[i].step) CHECK(one[i].step->fitted_s == many[i].step->fitted_s);
  }
}

TEST_CASE("the null model has the utilisation with the least mean error, for each GPU type") {
  std::vector<CaseResult> results;
  for (const double utilisation : {0.3, 0.4, 0.45, 0.6, 0.62})
    results.push_back(compared("s", Use::check, step("x", 1, 1, utilisation)));
  results.push_back(compared("s", Use::check, step("y", 2, 1, 0.5)));
  add_null_model(results);
  CHECK(results.back().step->null_s == Approx(2));  // one row alone is met
  const auto mean_error = [&](double utilisation) {
    double sum = 0;
    for (std::size_t i = 0; i < 5; ++i)
      sum += std::abs(results[i].step->ideal_s / utilisation / results[i].step->measured_s - 1);
    return sum;
  };
  const double chosen = results[0].step->ideal_s / results[0].step->null_s;
  for (double other = 0.25; other < 0.7; other += 0.01)
    CHECK(mean_error(chosen) <= mean_error(other) + 1e-12);
}

TEST_CASE("a summary has mean, median, 90th percentile, worst and bias of the errors") {
  std::vector<CaseResult> results;
  for (const double predicted : {0.9, 1.2, 1.0, 0.5, 1.1})
    results.push_back(compared("s", Use::fit, step("x", 1, predicted, 1)));
  results.push_back(compared("t", Use::check, step("x", 1, 3, 1)));
  const std::vector<SummaryRow> rows = summary_rows(results);
  REQUIRE(rows.size() == 5);  // s fit; t check; all: fit, check, both
  const ErrorSummary& errors = rows[0].errors.fitted;
  CHECK(errors.count == 5);
  CHECK(errors.mean == Approx(0.18));
  CHECK(errors.median == Approx(0.1));
  CHECK(errors.p90 == Approx(0.2 + 0.6 * 0.3));
  CHECK(errors.worst == Approx(-0.5));
  CHECK(errors.bias == Approx(-0.06));
  CHECK(rows[4].errors.fitted.count == 6);
  CHECK(by_error(results).front()->suite == "t");
}

TEST_CASE("one scale is the median over the rows named, for each GPU type and stack of a suite") {
  std::vector<CaseResult> results;
  const auto add = [&](const std::string& device, double measured, double predicted, bool gives) {
    results.push_back(compared("s", Use::check, step(device, measured, predicted, 1)));
    results.back().gives_scale = gives;
  };
  add("x", 1.1, 1, true);
  add("x", 1.5, 1, true);
  add("x", 1.2, 1, true);
  add("x", 2.4, 2, false);
  add("y", 3, 1, false);
  add_one_number(results);
  CHECK(results[3].step->one_number_s.value() == Approx(2.4));
  CHECK_FALSE(results[4].step->one_number_s.has_value());  // no row of that GPU gives a scale
  const RegimeErrors errors = summarise(by_error(results));
  CHECK(errors.zero_shot.count == 5);
  CHECK(errors.one_number.count == 1);  // rows that give the scale are left out
  CHECK(errors.one_number.mean == Approx(0).margin(1e-12));
}

TEST_CASE("memory verdicts are counted against what ran and what ran out of memory") {
  const std::string memory_suite =
      "suite: m\n"
      "defaults:\n"
      "  model: llama3-8b\n"
      "  cluster: { node: dgx-h100, nodes: 1 }\n"
      "  plan: { strategy: fsdp2 }\n"
      "  training: { sequence_length: 8192, activation_checkpointing: full }\n"
      "cases:\n"
      "  - { id: a, measured: { peak_memory: { value: 30 GiB, kind: allocated } } }\n"
      "  - { id: b, training: { micro_batch: 64, activation_checkpointing: none }, "
      "measured: { out_of_memory: true } }\n"
      "  - { id: c, measured: { peak_memory: { value: 30 GiB } } }\n";
  const std::vector<CaseResult> results = validate_text(memory_suite, 1);
  CHECK_FALSE(results[0].step);
  const MemorySummary memory = summarise_memory(results);
  CHECK(memory.ran_said_yes == 1);
  CHECK(memory.died_said_no == 1);
  CHECK(memory.ran_said_no + memory.died_said_yes == 0);
  CHECK(memory.peak.count == 1);
  REQUIRE(results[2].problems.size() == 1);
  CHECK(results[2].problems.front().find("measured.peak_memory: is not complete") !=
        std::string::npos);
}
