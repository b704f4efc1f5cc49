#include "report/result_json.hpp"
#include "report/validation.hpp"
#include "report/verdict_name.hpp"

#include "scenarios/validation_summary.hpp"

#include <nlohmann/json.hpp>

namespace stepsim::report {

using scenarios::CaseResult;
using scenarios::ComparedStep;

namespace {

using Json = nlohmann::ordered_json;

void add_comparison(Json& json, const ComparedStep& step) {
  json["stack"] = step.stack;
  json["device"] = step.device;
  json["model"] = step.model;
  json["gpus"] = step.gpus;
  json["metric"] = step.metric;
  json["measured"] = step.measured;
  json["predicted"] = step.predicted;
  json["measured_step_time_s"] = step.measured_s;
  json["predicted_step_time_s"] = step.fitted_s;
  json["error"] = step.error();
  json["zero_shot_error"] = step.zero_shot_s / step.measured_s - 1;
  if (step.one_number_s) json["one_number_error"] = *step.one_number_s / step.measured_s - 1;
  json["null_model_error"] = step.null_error();
  json["interval_s"] = {step.low_s, step.high_s};
  json["inside_interval"] = step.inside_interval();
  json["memory_verdict"] = verdict_name(step.memory);
}

void add_memory(Json& json, const scenarios::ComparedMemory& memory) {
  Json block;
  if (memory.measured) {
    block["measured_peak_bytes"] = memory.measured->count();
    block["predicted_peak_bytes"] = memory.predicted.count();
  }
  block["ran_out"] = memory.ran_out;
  block["verdict"] = verdict_name(memory.verdict);
  json["memory"] = std::move(block);
}

Json case_json(const CaseResult& result) {
  Json json = {{"id", result.id}, {"suite", result.suite}, {"use", to_string(result.use)}};
  if (result.step) add_comparison(json, *result.step);
  if (result.memory) add_memory(json, *result.memory);
  if (!result.excluded.empty()) json["excluded"] = result.excluded;
  if (!result.problems.empty()) json["problems"] = result.problems;
  return json;
}

Json errors_json(const scenarios::ErrorSummary& errors) {
  return {{"count", errors.count}, {"mape", errors.mean}, {"median", errors.median},
          {"p90", errors.p90},     {"max", errors.worst}, {"bias", errors.bias}};
}

Json summary_json(const scenarios::RegimeErrors& errors) {
  Json json = errors_json(errors.fitted);
  json["within_interval"] = errors.inside_interval;
  json["null_model_mape"] = errors.null_model.mean;
  json["zero_shot"] = errors_json(errors.zero_shot);
  if (errors.one_number.count > 0) json["one_number"] = errors_json(errors.one_number);
  json["null_model"] = errors_json(errors.null_model);
  return json;
}

Json memory_json(const scenarios::MemorySummary& memory) {
  return {{"ran_said_fits", memory.ran_said_yes},
          {"ran_said_does_not_fit", memory.ran_said_no},
          {"ran_out_said_fits", memory.died_said_yes},
          {"ran_out_said_does_not_fit", memory.died_said_no},
          {"peak", errors_json(memory.peak)}};
}

}  // namespace

Json validation_json(const Validation& validation) {
  Json suites = Json::array();
  for (const scenarios::Suite& suite : validation.suites) {
    suites.push_back({{"name", suite.name},
                      {"source", suite.source},
                      {"file", suite.file},
                      {"hash", suite.hash}});
  }
  Json cases = Json::array();
  for (const CaseResult& result : validation.results) cases.push_back(case_json(result));
  Json by_suite = Json::array();
  for (const scenarios::SummaryRow& row : scenarios::summary_rows(validation.results)) {
    if (row.suite.empty()) continue;
    Json entry = {{"suite", row.suite}, {"use", row.use ? to_string(*row.use) : "all"}};
    entry.update(summary_json(row.errors));
    by_suite.push_back(std::move(entry));
  }
  Json json = {{"schema", "stepsim.validation/1"}, {"suites", std::move(suites)}};
  if (!validation.overrides.empty()) json["changed"] = validation.overrides;
  if (!validation.without.empty()) json["without"] = validation.without;
  json["provenance"] = provenance_json({}, {});
  json["summary"] = summary_json(scenarios::summarise(scenarios::by_error(validation.results)));
  json["memory_summary"] = memory_json(scenarios::summarise_memory(validation.results));
  json["summary_by_suite"] = std::move(by_suite);
  json["cases"] = std::move(cases);
  return json;
}

}  // namespace stepsim::report
