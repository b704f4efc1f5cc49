#include "scenarios/validate.hpp"

#include "scenarios/simulate.hpp"

#include "topology/peak.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace stepsim::scenarios {

namespace {

double tokens_per_step(const Scenario& scenario) {
  return static_cast<double>(scenario.training.global_batch) *
         static_cast<double>(scenario.training.sequence_length);
}

// The metric that was compared, with what the source says; of the first that is given, as
// resolve_measured takes them.
void note_metric(const MeasuredSpec& spec, ComparedStep& step) {
  const auto note = [&](const char* name, double value) {
    step.metric = name;
    step.measured = value;
  };
  if (spec.step_time) return note("step_time_s", spec.step_time->seconds());
  if (spec.tokens_per_second) return note("tokens_per_second", *spec.tokens_per_second);
  if (spec.tokens_per_second_per_gpu)
    return note("tokens_per_second_per_gpu", *spec.tokens_per_second_per_gpu);
  if (spec.model_flops_per_second_per_gpu)
    return note("model_flops_per_second_per_gpu",
                spec.model_flops_per_second_per_gpu->flops_per_second());
  if (spec.mfu) return note("mfu", *spec.mfu);
}

ComparedStep compare(const DataDirectory& data, const Scenario& scenario) {
  const StepPrediction prediction = predict_step(data, scenario);
  ComparedStep step;
  note_metric(scenario.measured->as_written, step);
  step.measured_s = *scenario.measured->step_time_s;
  step.predicted_s = prediction.step_time.seconds();
  // All other metrics are rates, and so inverse to the time.
  const double ratio = step.predicted_s / step.measured_s;
  step.predicted = step.metric == "step_time_s" ? step.predicted_s : step.measured / ratio;
  const topology::Device& device = scenario.cluster.node.device;
  step.device = device.name;
  step.model = scenario.model.name;
  step.gpus = scenario.cluster.gpus;
  const double peak = topology::utilisation_peak(device).flops_per_second;
  const double flops =
      tokens_per_step(scenario) *
      workloads::training_flops_per_token(scenario.model, scenario.training.sequence_length,
                                          workloads::FlopsConvention::full_attention);
  step.ideal_s = peak > 0 ? flops / (peak * step.gpus) : 0;
  step.memory = prediction.memory.verdict;
  return step;
}

void run_case(const DataDirectory& data, const SuiteCase& suite_case, CaseResult& result) {
  if (!suite_case.excluded.empty()) return;
  try {
    const Scenario scenario = scenario_of(data, suite_case);
    if (!scenario.measured || !scenario.measured->step_time_s) {
      throw InputError(Diagnostic{suite_case.where, "measured", "is missing",
                                  "a block with what was measured", ""});
    }
    result.step = compare(data, scenario);
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics())
      result.problems.push_back(diagnostic.to_string());
  } catch (const RangeError& error) {
    result.problems.push_back(std::string("outside what can be simulated: ") + error.what());
  } catch (const std::bad_alloc&) {
    result.problems.push_back("not enough memory to simulate this");
  }
}

/// Cases that threads take one by one; each writes only its own result.
class CaseQueue {
 public:
  CaseQueue(const DataDirectory& data, const std::vector<Suite>& suites,
            const ValidationOptions& options)
      : data_(data), options_(options) {
    for (const Suite& suite : suites) {
      for (const SuiteCase& suite_case : suite.cases) {
        cases_.push_back(&suite_case);
        results_.push_back({suite.name, suite_case.id, suite_case.use, suite_case.stack,
                            suite_case.excluded, {}, {}});
      }
    }
  }

  std::vector<CaseResult> run() {
    std::vector<std::thread> threads;
    const auto count = static_cast<std::size_t>(std::max(1, options_.threads));
    for (std::size_t i = 1; i < std::min(count, cases_.size()); ++i)
      threads.emplace_back([this] { work(); });
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(results_);
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < cases_.size(); i = next_++) {
      try {
        run_case(data_, *cases_[i], results_[i]);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        next_ = cases_.size();
        return;
      }
      const std::lock_guard lock(mutex_);
      ++done_;
      if (options_.progress) options_.progress(done_, cases_.size());
    }
  }

  const DataDirectory& data_;
  const ValidationOptions& options_;
  std::vector<const SuiteCase*> cases_;
  std::vector<CaseResult> results_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::size_t done_ = 0;
  std::exception_ptr failure_;
};

/// The x ≥ 0 for which the sum of |a·x − 1| over all a is least: a median of 1/a, weighted with a.
double least_absolute_scale(std::vector<double> factors) {
  std::sort(factors.begin(), factors.end(), std::greater<>());
  double total = 0;
  for (const double factor : factors) total += factor;
  double sum = 0;
  for (const double factor : factors) {
    sum += factor;
    if (sum >= total / 2) return 1 / factor;
  }
  return 0;
}

}  // namespace

std::vector<CaseResult> validate(const DataDirectory& data, const std::vector<Suite>& suites,
                                 const ValidationOptions& options) {
  std::vector<CaseResult> results = CaseQueue(data, suites, options).run();
  add_null_model(results);
  return results;
}

void add_null_model(std::vector<CaseResult>& results) {
  std::map<std::string, std::vector<double>> utilisations;  // by GPU type
  for (const CaseResult& result : results) {
    if (result.step)
      utilisations[result.step->device].push_back(result.step->ideal_s / result.step->measured_s);
  }
  for (CaseResult& result : results) {
    if (!result.step) continue;
    ComparedStep& step = *result.step;
    step.null_s = step.ideal_s * least_absolute_scale(utilisations[step.device]);
  }
}

}  // namespace stepsim::scenarios
