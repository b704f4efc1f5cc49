#pragma once

/// What a file of nccl-tests says before it is checked and understood: the raw side of
/// calibrate/nccl_tests.hpp. Private to calibrate.

#include "calibrate/nccl_tests.hpp"

#include "sim/base/diagnostics.hpp"

#include <cstdint>
#include <set>

namespace stepsim::calibrate {

struct RawNcclTestsRow {
  NcclTestsRow row;
  std::int64_t count = 0;  // elements; 0: not said
  std::string type;        // of an element; may be empty
  std::string redop;       // may be empty
  std::optional<int> root;
};

struct RawNcclTests {
  std::vector<RawNcclTestsRow> rows;  // those of no bytes are left out
  std::string command;                // «all_reduce_perf»; may be empty
  std::string version;
  std::string nccl_version;
  std::string device;
  std::set<std::string> hosts;
  std::set<int> ranks;
  int skipped = 0;                 // lines that are neither table nor comment
  std::vector<std::string> notes;  // about some of them
  std::string header;              // the table's line of column names, without «#»
};

/// A text table. Problems of single rows go to `problems`.
RawNcclTests read_nccl_tests_table(std::string_view text, const std::string& name,
                                   Diagnostics& problems);
/// The JSON of -J.
RawNcclTests read_nccl_tests_json(std::string_view text, const std::string& name,
                                  Diagnostics& problems);

/// A line without what carried it: colours, the tags and times that mpirun and srun put in front,
/// rank tags in its middle.
std::string bare_nccl_tests_line(std::string_view line);

/// Checks one timing against its message size and stores it; reports what is impossible.
void add_nccl_tests_timing(const NcclTestsTiming& timing, const SourceLocation& where, Bytes bytes,
                           std::optional<NcclTestsTiming>& into, Diagnostics& problems);

/// Bytes of an element of the types that nccl-tests knows; 0 for another word.
int nccl_tests_type_bytes(std::string_view type);

}  // namespace stepsim::calibrate
