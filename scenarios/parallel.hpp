#pragma once

/// Independent pieces of work on several threads.

#include <cstddef>
#include <functional>

namespace stepsim::scenarios {

/// As many threads as the machine runs at once, at least one.
int machine_threads();

/// Calls work(0) … work(count − 1), each once, on up to `threads` threads, and returns when all are
/// done. The calls must not touch what another changes: then the result is the same for any number
/// of threads. When calls throw, the exception of the lowest index is thrown on.
void for_each_index(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace stepsim::scenarios
