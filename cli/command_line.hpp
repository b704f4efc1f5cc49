#pragma once

/// The stepsim command: parses arguments, runs the verb, turns failures into exit codes.

namespace stepsim::cli {

/// Returns the exit code: 0 done, 1 the verdict is no, 2 bad input or usage, 3 internal error.
int run_command_line(int argc, const char* const* argv);

}  // namespace stepsim::cli
