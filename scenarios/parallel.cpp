#include "scenarios/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace stepsim::scenarios {

int machine_threads() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

void for_each_index(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next{0};
  const auto take_turns = [&] {
    for (std::size_t index = next++; index < count; index = next++) {
      try {
        work(index);
      } catch (...) {
        failures[index] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    const auto most = static_cast<std::size_t>(std::max(1, threads));
    for (std::size_t i = 1; i < std::min(most, count); ++i) others.emplace_back(take_turns);
    take_turns();
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace stepsim::scenarios
