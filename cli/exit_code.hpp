#pragma once

/// What the shell is told, and the one place where a verdict becomes «no».

#include "workloads/memory_verdict.hpp"

namespace stepsim::cli {

enum class ExitCode : int {
  done = 0,
  verdict_is_no = 1,  // everything was printed, and what was asked about does not hold
  bad_input = 2,      // InputError, RangeError, bad usage
  internal_error = 3,
};

/// Of an answer about memory: `verdict_is_no` when the step does not fit.
ExitCode exit_code_of(const workloads::MemoryReport& memory);

}  // namespace stepsim::cli
