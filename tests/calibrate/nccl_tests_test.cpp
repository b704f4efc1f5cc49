#include "calibrate/nccl_tests.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::calibrate;
using topology::Collective;

namespace {

const std::string header =
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     "
    "time "
    "  algbw   busbw  #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             "
    "(us) "
    " (GB/s)  (GB/s)\n";
const std::string row =
    "   536870912     134217728     float     sum      -1   2984.6  179.88  314.79       0   "
    "2979.7 "
    " 180.18  315.32       0\n";

std::string devices(int ranks, int per_host) {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) {
    text += "#  Rank  " + std::to_string(rank) + " Group  0 Pid 12345 on  host" +
            std::to_string(rank / per_host) + " device  " + std::to_string(rank % per_host) +
            " [0000:1b:00] NVIDIA H100 80GB HBM3\n";
  }
  return text;
}

NcclTestsLog parse(const std::string& text, std::optional<Collective> collective = {}) {
  return parse_nccl_tests(text, "log.txt", collective);
}

std::string refusal(const std::string& text) {
  try {
    parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void check_row(const NcclTestsLog& log) {
  REQUIRE(log.rows.size() == 1);
  CHECK(log.rows[0].bytes == Bytes(536870912));
  REQUIRE(log.rows[0].out_of_place);
  CHECK(log.rows[0].out_of_place->time_us == 2984.6);
  CHECK(log.rows[0].out_of_place->bus_gb_per_s == 314.79);
  REQUIRE(log.rows[0].in_place);
  CHECK(log.rows[0].best().time_us == 2979.7);
  CHECK(log.collective == Collective::all_reduce);
}

}  // namespace

TEST_CASE("a table of the current format is read with its devices") {
  const NcclTestsLog log = parse(
      "# nccl-tests version 2.17.6 nccl-headers=22501 nccl-library=22501\n"
      "# Collective test starting: all_reduce_perf\n" +
      devices(8, 4) + "NCCL version 2.27.7+cuda12.9\n" + header + row +
      "# Avg bus bandwidth    : 315.055\n");
  check_row(log);
  CHECK(log.ranks == 8);
  CHECK(log.hosts == 2);
  CHECK(log.version == "2.17.6");
  CHECK(log.nccl_version == "2.27.7");
  CHECK(log.device == "NVIDIA H100 80GB HBM3");
  CHECK(log.notes.empty());
}

TEST_CASE("what launchers put before and into lines is taken off") {
  const auto prefixed = [](const std::string& prefix) {
    std::string text = devices(8, 8) + header + row;
    std::string result = prefix;
    for (const char character : text) {
      result += character;
      if (character == '\n') result += prefix;
    }
    return result;
  };
  for (const std::string prefix :
       {"Thu Jul 18 15:41:05 2024<stdout>:", "[1,0]<stdout>:", "[0]", "0: ", "2024-07-18 15:41:05 ",
        "2024-07-18T15:41:05.123Z ", "\x1b[32m"}) {
    CAPTURE(prefix);
    const NcclTestsLog log = parse(prefixed(prefix));
    check_row(log);
    CHECK(log.ranks == 8);
  }
}

TEST_CASE("rank tags glued into rows are taken out") {
  check_row(parse(
      "[0]    536870912     134217728     float     sum      -1[0]   2984.6  179.88  314.79      "
      "0[0]   2979.7  180.18  315.32      0\r\n"));
}

TEST_CASE("lines that are no rows are skipped and counted") {
  const NcclTestsLog log =
      parse("SLURM_NTASKS=8\n" + header + "host:3442:3442 [0] NCCL INFO Launch mode Parallel\n" +
            "  366.5    1.43    2.50      0   340.8    1.54    2.70      0\n" + row);
  check_row(log);
  REQUIRE(log.notes.size() == 2);
  CHECK(log.notes[0] == "line 5: a row without its size was skipped");
  CHECK(log.notes[1] == "3 lines that hold no row of the table skipped");
}

TEST_CASE("ranks that the file does not list are bounded by its bus bandwidths") {
  const NcclTestsLog log = parse(header + row);
  CHECK(log.ranks == 0);
  CHECK(log.least_ranks == 8);
  CHECK(log.most_ranks == 8);
}

TEST_CASE("a listing with ranks taken out still has them all") {
  std::string text = devices(8, 8);
  text.erase(0, text.find('\n') + 1);
  const NcclTestsLog log = parse(text + header + row);
  CHECK(log.ranks == 8);
  CHECK(log.hosts == 0);
  CHECK(log.notes.size() == 1);
}

TEST_CASE("the collective is known from columns that only it has") {
  CHECK(
      parse(header +
            "  8388608   262144  float  sum  -1   81.0  103.56  90.62  0  80.0  104.86  91.75 0\n")
          .collective == Collective::reduce_scatter);
  CHECK(
      parse(header +
            "  8388608  2097152  float none   0   81.0  103.56 103.56  0  80.0  104.86 104.86 0\n")
          .collective == Collective::broadcast);
  const std::string ambiguous =
      header +
      "  8388608   262144  float none  -1   81.0  103.56  90.62  0  80.0  104.86  91.75 0\n";
  CHECK(refusal(ambiguous).find("does not say which collective") != std::string::npos);
  CHECK(parse(ambiguous, Collective::all_to_all).collective == Collective::all_to_all);
  CHECK(parse_nccl_tests(ambiguous, "logs/all_gather-8.txt").collective == Collective::all_gather);
  CHECK(parse("# all_gather_perf -b 8M\n" + ambiguous).collective == Collective::all_gather);
  CHECK(parse(ambiguous, Collective::all_to_all).ranks == 8);
}

TEST_CASE("tables edited by hand and tables without in-place columns are read") {
  const NcclTestsLog log = parse_nccl_tests(
      "           size    time   algbw   busbw\n"
      "            (B)    (us)  (GB/s)  (GB/s)\n"
      "      4_194_304   101.5   41.33   72.33\n",
      "all_reduce.txt");
  REQUIRE(log.rows.size() == 1);
  CHECK(log.rows[0].bytes == Bytes(4194304));
  CHECK_FALSE(log.rows[0].in_place);
  const NcclTestsLog old = parse(
      "#       size         count    type   redop     time   algbw   busbw  error     time   algbw "
      " "
      " busbw  error\n"
      "     4194304       1048576   float     sum    101.5   41.33   72.33    N/A      N/A    N/A  "
      " "
      "  N/A    N/A\n");
  REQUIRE(old.rows.size() == 1);
  CHECK_FALSE(old.rows[0].in_place);
}

TEST_CASE("more columns and times of day after a row are left aside") {
  const NcclTestsLog log = parse(
      "# size count type redop root time algbw busbw #wrong i_min i_max time algbw busbw #wrong "
      "i_min i_max timestamp\n"
      " 4194304 1048576 float sum -1 101.5 41.33 72.33 0 99.1 130.2 102 41.12 71.96 N/A 99 140 "
      "2026-01-02 03:04:05\n");
  REQUIRE(log.rows.size() == 1);
  CHECK(log.rows[0].in_place->time_us == 102);
}

TEST_CASE("impossible measurements are refused with file and line") {
  const auto with = [](const std::string& numbers) {
    return header + "     4194304       1048576     float     sum      -1  " + numbers + "\n";
  };
  const std::string good = "  101.5   41.33   72.33  0  101.5   41.33   72.33  0";
  CHECK(refusal(with(good)).empty());
  struct Bad {
    const char* numbers;
    const char* message;
  };
  const Bad all[] = {
      {"  -101.5   41.33   72.33  0  101.5   41.33   72.33  0", "log.txt:3: time: is -101.5"},
      {"  0   41.33   72.33  0  101.5   41.33   72.33  0", "log.txt:3: time: is 0"},
      {"  nan   41.33   72.33  0  101.5   41.33   72.33  0", "log.txt:3"},
      {"  inf   41.33   72.33  0  101.5   41.33   72.33  0", "log.txt:3"},
      {"  101.5   14.33   72.33  0  101.5   41.33   72.33  0", "log.txt:3: algbw: is 14.33, but"},
      {"  101.5   41.33   72.33  0  1O1.5   41.33   72.33  0", "log.txt:3: time: is \"1O1.5\""},
      {"  101.5   41.33   72.33  0  101.5   41.33", "log.txt:3: has 7 numbers after its type"},
      {"  101.5   41.33   20.00  0  101.5   41.33   20.00  0",
       "bus bandwidths that are not those"}};
  for (const Bad& bad : all) {
    CAPTURE(bad.numbers);
    CHECK(refusal(with(bad.numbers)).find(bad.message) != std::string::npos);
  }
  CHECK(refusal("").find("holds no measurement") != std::string::npos);
  CHECK(refusal(std::string(100, '\0')).find("holds no measurement") != std::string::npos);
  CHECK(refusal("# ./reduce_perf\n" + with(good)).find("not modelled") != std::string::npos);
  CHECK(refusal(devices(16, 8) + with(good)).find("lists 16 ranks") != std::string::npos);
}

TEST_CASE("messages of no bytes are no measurement") {
  check_row(parse(header +
                  "           0             0     float     sum      -1    35.20    0.00    0.00  "
                  "  0    34.05    0.00    0.00    0\n" +
                  row));
}

TEST_CASE("JSON is read, whose numbers and truth values may be strings") {
  const std::string text = R"({
  "version": "2.17.6", "nccl_version": "2.27.7", "args": ["./build/all_reduce_perf", "-b", "8"],
  "config": {"validation": "true", "devices": [
    {"rank": 0, "hostname": "a", "device_info": "NVIDIA H100 80GB HBM3"},
    {"rank": 1, "hostname": "b", "device_info": "NVIDIA H100 80GB HBM3"}]},
  "results": [
    {"size": 0, "count": 0, "out_of_place": {"time": 12.0, "alg_bw": 0, "bus_bw": 0}},
    {"size": 4194304, "count": 1048576, "type": "float", "redop": "sum", "root": "-1",
     "out_of_place": {"time": "101.5", "alg_bw": 41.32, "bus_bw": 41.32, "nwrong": "0"},
     "in_place": {"time": 102.5, "alg_bw": 40.92, "bus_bw": 40.92, "nwrong": "0"}}],
  "out_of_bounds": {"count": 0, "okay": "true"}})";
  const NcclTestsLog log = parse_nccl_tests(text, "log.json");
  REQUIRE(log.rows.size() == 1);
  CHECK(log.rows[0].best().time_us == 101.5);
  CHECK(log.ranks == 2);
  CHECK(log.hosts == 2);
  CHECK(log.collective == Collective::all_reduce);
  CHECK(log.nccl_version == "2.27.7");
  CHECK(refusal("{\"version\": 3}").find("results") != std::string::npos);
  CHECK(refusal("{\"results\": [{\"size\": 8, \"out_of_place\": {\"time\": -1, \"alg_bw\": 0, "
                "\"bus_bw\": 0}}]}")
            .find("time: is -1") != std::string::npos);
}
