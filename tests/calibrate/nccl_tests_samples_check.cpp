/// Reads real logs of nccl-tests, where they are at hand, compares them with the model, and checks
/// what came of it.
///   nccl_tests_samples_check FOLDER
/// Without the folder the program says so and returns 77.

#include "calibrate/nccl_comparison.hpp"

#include "sim/base/error.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>

using namespace stepsim;
using calibrate::CurveVerdict;
using topology::Collective;

namespace {

struct Expected {
  const char* file;
  bool given;  // nothing in the file tells its collective from another
  Collective collective;
  int ranks;  // 0: the file does not say
  int hosts;
  std::size_t rows;
  double last_busbw;  // of the last row, out of place
  const char* node;   // that it is compared with
  int nodes;
  calibrate::CurveVerdict verdict;
  const char* suspect;  // the first; empty: none
};

const Expected expectations[] = {
    {"nccl1368_timestamped_mpirun.txt", false, Collective::all_reduce, 0, 0, 1, 5.76,
     "hgx-h100-4nic", 5, CurveVerdict::slow, "no_gpudirect"},
    {"nccl1453_rankprefix_interleaved.txt", false, Collective::all_reduce, 0, 0, 10, 5.31,
     "hgx-a100-4nic", 3, CurveVerdict::slow, "congestion"},
    {"oci_a100_1node_v2.17.6.txt", false, Collective::all_reduce, 8, 1, 1, 233.00, "dgx-a100-40gb",
     1, CurveVerdict::as_expected, ""},
    {"oci_a100_2node_old.txt", false, Collective::all_reduce, 16, 2, 1, 222.88, "dgx-a100-40gb", 2,
     CurveVerdict::as_expected, ""},
    {"oci_b4_2node_v2.17.9.txt", false, Collective::all_reduce, 16, 0, 3, 188.50, "dgx-a100-40gb",
     2, CurveVerdict::as_expected, ""},
    {"stas_a100_massaged.txt", true, Collective::all_reduce, 0, 0, 20, 234.89, "dgx-a100", 1,
     CurveVerdict::as_expected, ""},
    {"superbench_allgather.log", false, Collective::all_gather, 8, 1, 29, 223.39, "dgx-a100-40gb",
     1, CurveVerdict::as_expected, ""},
    {"superbench_allreduce.log", false, Collective::all_reduce, 8, 1, 32, 235.26, "dgx-a100-40gb",
     1, CurveVerdict::as_expected, ""},
    {"superbench_alltoall.log", false, Collective::all_to_all, 8, 1, 29, 224.31, "dgx-a100-40gb", 1,
     CurveVerdict::as_expected, ""},
    {"superbench_broadcast.log", false, Collective::broadcast, 8, 1, 32, 232.81, "dgx-a100-40gb", 1,
     CurveVerdict::as_expected, ""}};

bool check(const std::filesystem::path& folder, const Expected& expected) {
  std::optional<Collective> given;
  if (expected.given) given = expected.collective;
  const calibrate::NcclTestsLog log =
      calibrate::read_nccl_tests((folder / expected.file).string(), given);
  const DataDirectory data(STEPSIM_SOURCE_DIRECTORY);
  calibrate::MeasuredRun run;
  run.node = topology::load_node(data, expected.node);
  run.nodes = expected.nodes;
  const calibrate::NcclComparison comparison = calibrate::compare_nccl_tests(data, log, run);
  const std::string suspect = comparison.suspects.empty() ? "" : comparison.suspects.front().key;
  const double last = log.rows.back().out_of_place->bus_gb_per_s;
  const bool good = log.collective == expected.collective && log.ranks == expected.ranks &&
                    log.hosts == expected.hosts && log.rows.size() == expected.rows &&
                    std::abs(last - expected.last_busbw) < 1e-9 &&
                    comparison.verdict == expected.verdict && suspect == expected.suspect;
  std::printf("%s %s: %s (%s), %d ranks (%d to %d), %d hosts, %zu rows, last %.2f GB/s\n",
              good ? "ok    " : "FAILED", expected.file, to_string(log.collective),
              log.collective_from.c_str(), log.ranks, log.least_ranks, log.most_ranks, log.hosts,
              log.rows.size(), last);
  std::printf("         %s, %.0f %% of expected, %s\n", to_string(comparison.verdict),
              100 * comparison.large_ratio, suspect.c_str());
  for (const std::string& note : log.notes) std::printf("         %s\n", note.c_str());
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "";
  if (!std::filesystem::exists(folder)) {
    std::printf("skipped: no logs of nccl-tests in %s\n", folder.string().c_str());
    return 77;
  }
  bool good = true;
  for (const Expected& expected : expectations) {
    try {
      good &= check(folder, expected);
    } catch (const std::exception& error) {
      std::printf("FAILED %s: %s\n", expected.file, error.what());
      good = false;
    }
  }
  return good ? 0 : 1;
}
