#include "scenarios/validate.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace stepsim::scenarios {

namespace {

/// Cases that threads take one by one; each writes only its own result.
class CaseQueue {
 public:
  CaseQueue(const DataDirectory& data, const std::vector<Suite>& suites,
            const ValidationOptions& options)
      : data_(data), options_(options) {
    for (const Suite& suite : suites)
      for (const SuiteCase& suite_case : suite.cases) cases_.emplace_back(&suite, &suite_case);
    results_.resize(cases_.size());
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
        results_[i] = validate_case(data_, *cases_[i].first, *cases_[i].second, options_.without);
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
  std::vector<std::pair<const Suite*, const SuiteCase*>> cases_;
  std::vector<CaseResult> results_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::size_t done_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

const char* to_string(Regime regime) {
  switch (regime) {
    case Regime::zero_shot:
      return "zero-shot";
    case Regime::one_number:
      return "one-number";
    case Regime::fitted:
      return "fitted";
  }
  return "";
}

std::optional<double> ComparedStep::predicted_s(Regime regime) const {
  switch (regime) {
    case Regime::zero_shot:
      return zero_shot_s;
    case Regime::one_number:
      return one_number_s;
    case Regime::fitted:
      return fitted_s;
  }
  return {};
}

std::vector<CaseResult> validate(const DataDirectory& data, const std::vector<Suite>& suites,
                                 const ValidationOptions& options) {
  std::vector<CaseResult> results = CaseQueue(data, suites, options).run();
  add_null_model(results);
  add_one_number(results);
  return results;
}

}  // namespace stepsim::scenarios
