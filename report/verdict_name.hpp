#pragma once

/// The verdict on memory as JSON has it.

#include "workloads/memory_verdict.hpp"

namespace stepsim::report {

inline const char* verdict_name(workloads::FitVerdict verdict) {
  switch (verdict) {
    case workloads::FitVerdict::fits:
      return "fits";
    case workloads::FitVerdict::tight:
      return "tight";
    case workloads::FitVerdict::does_not_fit:
      return "does_not_fit";
  }
  return "";
}

}  // namespace stepsim::report
