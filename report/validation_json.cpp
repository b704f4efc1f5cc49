#include "report/result_json.hpp"
#include "report/validation.hpp"

#include "scenarios/validation_summary.hpp"

#include <nlohmann/json.hpp>

namespace stepsim::report {

using scenarios::CaseResult;
using scenarios::ComparedStep;

namespace {

using Json = nlohmann::ordered_json;

const char* memory_word(workloads::FitVerdict verdict) {
  switch (verdict) {
    case workloads::FitVerdict::fits:
      return "fits";
    case workloads::FitVerdict::tight:
      return "tight";
    case workloads::FitVerdict::does_not_fit:
      return "does_not_fit";
  }
  return "fits";
}

void add_comparison(Json& json, const ComparedStep& step) {
  json["device"] = step.device;
  json["model"] = step.model;
  json["gpus"] = step.gpus;
  json["metric"] = step.metric;
  json["measured"] = step.measured;
  json["predicted"] = step.predicted;
  json["measured_step_time_s"] = step.measured_s;
  json["predicted_step_time_s"] = step.predicted_s;
  json["error"] = step.error();
  json["null_model_error"] = step.null_error();
  json["memory_verdict"] = memory_word(step.memory);
}

Json case_json(const CaseResult& result) {
  Json json = {{"id", result.id}, {"suite", result.suite}, {"use", to_string(result.use)}};
  if (!result.stack.empty()) json["stack"] = result.stack;
  if (result.step) add_comparison(json, *result.step);
  if (!result.excluded.empty()) json["excluded"] = result.excluded;
  if (!result.problems.empty()) json["problems"] = result.problems;
  return json;
}

Json summary_json(const scenarios::ErrorSummary& errors) {
  return {{"count", errors.count},   {"mape", errors.mean},
          {"median", errors.median}, {"p90", errors.p90},
          {"max", errors.worst},     {"bias", errors.bias},
          {"null_model_mape", errors.null_mean}};
}

}  // namespace

Json validation_json(const Validation& validation) {
  Json suites = Json::array();
  for (const scenarios::Suite& suite : validation.suites) {
    suites.push_back(
        {{"name", suite.name}, {"source", suite.source}, {"file", suite.file}, {"hash", suite.hash}});
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
  json["provenance"] = provenance_json({}, {});
  json["summary"] = summary_json(scenarios::summarise(scenarios::by_error(validation.results)));
  json["summary_by_suite"] = std::move(by_suite);
  json["cases"] = std::move(cases);
  return json;
}

}  // namespace stepsim::report
