/// Logs of nccl-tests as they arrive when something went wrong on the way. Each is read or refused
/// with its file; what is read can be compared with the model.

#include "calibrate/nccl_comparison.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>

using namespace stepsim;
using namespace stepsim::calibrate;

namespace {

const std::string table = R"(# nccl-tests version 2.17.6 nccl-headers=22907 nccl-library=22907
# Collective test starting: all_reduce_perf
#  Rank  0 Group  0 Pid  12345 on      host0 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid  12345 on      host0 device  1 [0000:2b:00] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
     1048576        262144     float     sum      -1    25.10   41.78   41.78       0    24.90   42.11   42.11       0
    16777216       4194304     float     sum      -1   110.00  152.52  152.52       0   109.00  153.92  153.92       0
   268435456      67108864     float     sum      -1  1100.00  244.03  244.03       0  1099.00  244.25  244.25     N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 146.2
)";

const std::string json = R"({"version": 3, "nccl_version": 22907, "config": {"nthreads": "1",
"devices": [{"rank": 0, "hostname": "a"}, {"rank": 1, "hostname": "a"}]},
"results": [{"size": 16777216, "count": 4194304, "type": "float", "redop": "sum", "root": "-1",
"out_of_place": {"time": 110.0, "alg_bw": 152.52, "bus_bw": 152.52, "nwrong": "0"},
"in_place": {"time": 109.0, "alg_bw": 153.92, "bus_bw": 153.92, "nwrong": 0}}],
"args": ["./build/all_reduce_perf", "-b", "16M"]})";

std::uint32_t next_random(std::uint32_t& state) {
  state = state * 1664525U + 1013904223U;
  return state >> 8;
}

struct Outcomes {
  int read = 0;
  int refused = 0;
};

void run(const std::string& text, const std::string& file, Outcomes& outcomes) {
  try {
    const NcclTestsLog log = parse_nccl_tests(text, file, topology::Collective::all_reduce);
    ++outcomes.read;
    if (log.rows.empty()) FAIL("a log without rows was read:\n" << text);
    for (const NcclTestsRow& row : log.rows) {
      if (!(row.best().time_us > 0)) FAIL("a time that is none:\n" << text);
    }
  } catch (const InputError& error) {
    ++outcomes.refused;
    if (std::string(error.what()).find(file) == std::string::npos)
      FAIL("no file in: " << error.what());
  } catch (const std::exception& error) {
    FAIL("another error, " << error.what() << ", of:\n" << text);
  }
}

Outcomes run_all(const std::string& text, const std::string& file) {
  Outcomes outcomes;
  for (std::size_t length = 0; length < text.size(); length += 3)
    run(text.substr(0, length), file, outcomes);
  const std::string bytes = "#{}[]\",:\t\n\r -+.eE019N/\x1b\xc3";
  std::uint32_t state = 1;
  for (int i = 0; i < 500; ++i) {
    std::string changed = text;
    const std::uint32_t changes = 1 + next_random(state) % 4;
    for (std::uint32_t k = 0; k < changes; ++k)
      changed[next_random(state) % changed.size()] = bytes[next_random(state) % bytes.size()];
    run(changed, file, outcomes);
  }
  return outcomes;
}

}  // namespace

TEST_CASE("a damaged table of nccl-tests is read or refused") {
  const Outcomes outcomes = run_all(table, "log.txt");
  CHECK(outcomes.read > 50);
  CHECK(outcomes.refused > 50);
}

TEST_CASE("damaged JSON of nccl-tests is read or refused") {
  const Outcomes outcomes = run_all(json, "log.json");
  CHECK(outcomes.read > 50);
  CHECK(outcomes.refused > 50);
}

TEST_CASE("colours and line ends of Windows in a table of nccl-tests change nothing") {
  const NcclTestsLog plain = parse_nccl_tests(table, "log.txt", {});
  std::string windows;
  std::string coloured;
  for (const char c : table) {
    windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
    coloured += c == '\n' ? std::string("\x1b[0m\n") : std::string(1, c);
  }
  for (const std::string& text : {windows, coloured}) {
    const NcclTestsLog log = parse_nccl_tests(text, "log.txt", {});
    REQUIRE(log.rows.size() == plain.rows.size());
    CHECK(log.collective == plain.collective);
    CHECK(log.ranks == plain.ranks);
    for (std::size_t i = 0; i < log.rows.size(); ++i)
      CHECK(log.rows[i].best().time_us == plain.rows[i].best().time_us);
  }
}
