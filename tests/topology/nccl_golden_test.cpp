/// Golden predictions of NCCL 2.30.7, an independent evaluation of its tuner: choice and time at
/// nine sizes (nccl_golden_choices.csv) and the straight line of every candidate
/// (nccl_golden_candidates.csv). 8 GPUs a node, no SHARP. A100: AMD CPU and 8 ports of 200 Gb/s;
/// H100 and B200: Intel CPU and 8 ports of 400 Gb/s. Figures are rounded to a tenth.

#include "tests/support/catch.hpp"
#include "tests/topology/nccl_fixture.hpp"

#include <cmath>
#include <fstream>
#include <sstream>

using namespace stepsim;
using namespace stepsim::topology::nccl;

namespace {

using Row = std::vector<std::string>;

std::vector<Row> read_table(const std::string& name) {
  std::ifstream file(std::string(STEPSIM_SOURCE_DIRECTORY) + "/tests/topology/" + name);
  REQUIRE(file.good());
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);  // the header
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    Row row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    rows.push_back(row);
  }
  return rows;
}

Operation operation_of(const Row& row) {
  return row[2] == "all_reduce" ? Operation::all_reduce : Operation::all_gather;
}

bool equals_rounded(double value, const std::string& golden) {
  return std::abs(value - std::stod(golden)) <= 0.0501;
}

void check_choice(const Row& row, Operation operation) {
  const TestSystem system(row[0]);
  const Communicator communicator = system.communicator(std::stoi(row[1]));
  const Choice choice = system.choose_of(communicator, operation, std::stoll(row[3]));
  INFO(row[0] << " x " << row[1] << ", " << row[3] << " B: golden " << row[6] << " us, here "
              << choice.time_us);
  CHECK(to_string(choice.algorithm) == row[4]);
  CHECK(to_string(choice.protocol) == row[5]);
  CHECK(equals_rounded(choice.time_us, row[6]));
}

}  // namespace

TEST_CASE("every golden cell is chosen and timed as NCCL does", "[nccl]") {
  const std::vector<Row> rows = read_table("nccl_golden_choices.csv");
  CHECK(rows.size() == 270);
  for (const Row& row : rows) check_choice(row, operation_of(row));
}

TEST_CASE("a reduce-scatter is predicted like an all-gather", "[nccl]") {
  for (const Row& row : read_table("nccl_golden_choices.csv")) {
    if (operation_of(row) == Operation::all_gather) check_choice(row, Operation::reduce_scatter);
  }
}

TEST_CASE("the candidates of every golden line have its latency and bandwidth", "[nccl]") {
  const std::vector<Row> rows = read_table("nccl_golden_candidates.csv");
  std::size_t next = 0;
  while (next < rows.size()) {
    const TestSystem system(rows[next][0]);
    const Communicator communicator = system.communicator(std::stoi(rows[next][1]));
    for (const Candidate& found : candidates(communicator, operation_of(rows[next]))) {
      REQUIRE(next < rows.size());
      const Row& row = rows[next++];
      INFO(row[0] << " x " << row[1] << " " << row[2] << " " << row[3] << "/" << row[4]);
      CHECK(to_string(found.algorithm) == row[3]);
      CHECK(to_string(found.protocol) == row[4]);
      CHECK(equals_rounded(found.latency_us, row[5]));
      CHECK(equals_rounded(found.bandwidth, row[6]));
    }
  }
  CHECK(next == 147);
}
