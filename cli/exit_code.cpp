#include "cli/exit_code.hpp"

namespace stepsim::cli {

ExitCode exit_code_of(const workloads::MemoryReport& memory) {
  return memory.fits ? ExitCode::done : ExitCode::verdict_is_no;
}

}  // namespace stepsim::cli
