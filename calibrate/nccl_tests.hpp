#pragma once

/// A reader of what nccl-tests prints (all_reduce_perf and its siblings): the table of every
/// generation, as it comes out of mpirun, Slurm and people's editors, and the JSON of its option
/// -J. Lines that are no measurement are skipped and counted; a measurement that contradicts itself
/// is refused with its line.

#include "topology/collective.hpp"

#include "sim/base/units.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim::calibrate {

/// One timing of a row: as printed, so bandwidths have two decimals. GB is 10^9 bytes.
struct NcclTestsTiming {
  double time_us = 0;
  double algorithm_gb_per_s = 0;
  double bus_gb_per_s = 0;
};

struct NcclTestsRow {
  int line = 0;  // 0 in JSON without a place
  Bytes bytes;   // as nccl-tests counts them, never 0
  std::optional<NcclTestsTiming> out_of_place;
  std::optional<NcclTestsTiming> in_place;
  /// The faster of the two: what disturbs a measurement only ever slows it.
  const NcclTestsTiming& best() const;
};

struct NcclTestsLog {
  std::string file;
  std::string hash;  // of the file's bytes
  topology::Collective collective = topology::Collective::all_reduce;
  std::string collective_from;  // «the command's name», «its columns»: how the collective is known
  int ranks = 0;                // 0: the file does not say
  /// Rank counts that the bus bandwidths allow, where the file does not say; 0 when any.
  int least_ranks = 0;
  int most_ranks = 0;
  int hosts = 0;                   // different hosts among the devices listed; 0: none listed
  std::string device;              // as the first device line names it; may be empty
  std::string version;             // of nccl-tests; may be empty
  std::string nccl_version;        // «2.29.3»; may be empty
  std::vector<NcclTestsRow> rows;  // in the file's order
  std::vector<std::string> notes;  // what was skipped or inferred, for the user to check
};

/// Reads a file. `collective` overrules what the file says or suggests. Throws InputError: no
/// measurement in it, one that contradicts itself or is not positive, a collective that cannot be
/// known or that the model does not have.
NcclTestsLog read_nccl_tests(const std::string& file,
                             std::optional<topology::Collective> collective = {});
/// The same of text at hand; `name` stands for the file.
NcclTestsLog parse_nccl_tests(std::string_view text, const std::string& name,
                              std::optional<topology::Collective> collective = {});

/// The names that --collective takes, and what they mean.
const std::vector<std::pair<std::string, topology::Collective>>& nccl_tests_collectives();

}  // namespace stepsim::calibrate
