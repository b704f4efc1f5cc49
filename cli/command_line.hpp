#pragma once

/// The stepsim command: parses arguments, runs the verb, turns failures into exit codes.

#include "cli/exit_code.hpp"

namespace stepsim::cli {

ExitCode run_command_line(int argc, const char* const* argv);

}  // namespace stepsim::cli
