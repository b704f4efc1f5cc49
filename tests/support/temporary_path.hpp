#pragma once

/// A path for a test's own file or folder: tests run several at a time, each in a process of its
/// own, so the name holds the process.

#include <unistd.h>

#include <filesystem>
#include <string>

inline std::filesystem::path temporary_path(const std::string& name) {
  return std::filesystem::temp_directory_path() /
         ("stepsim-" + std::to_string(::getpid()) + "-" + name);
}
