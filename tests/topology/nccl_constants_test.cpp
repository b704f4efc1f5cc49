#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"
#include "tests/topology/nccl_fixture.hpp"

using namespace stepsim;
using namespace stepsim::topology;
using namespace stepsim::topology::nccl;

TEST_CASE("a version takes the newest tables that are not newer", "[nccl]") {
  const auto tables_for = [](const char* version) {
    return load_tuner_tables(shipped_data(), version).version;
  };
  CHECK(tables_for("2.27.7") == "2.27.7");
  CHECK(tables_for("2.28.2") == "2.27.7");
  CHECK(tables_for("2.28.9") == "2.28.3");
  CHECK(tables_for("2.29") == "2.28.3");
  CHECK(tables_for("2.30.7") == "2.30.7");
  CHECK(tables_for("3.0") == "2.30.7");
  CHECK(tables_for("2.18.3") == "2.27.7");
}

TEST_CASE("a version that is not digits and points is refused", "[nccl]") {
  for (const char* version : {"", "latest", "2..7", "2.27.7-1", "-2", "99999999999999"}) {
    INFO(version);
    CHECK_THROWS_AS(load_tuner_tables(shipped_data(), version), InputError);
  }
}

TEST_CASE("releases differ where NCCL changed its constants", "[nccl]") {
  const TunerTables first = load_tuner_tables(shipped_data(), "2.27.7");
  const TunerTables second = load_tuner_tables(shipped_data(), "2.28.3");
  const TunerTables third = load_tuner_tables(shipped_data(), "2.30.7");
  const auto blackwell = static_cast<std::size_t>(Architecture::blackwell);
  const auto network = static_cast<std::size_t>(Hop::network);
  const auto nvls_tree = static_cast<std::size_t>(Algorithm::nvls_tree);
  CHECK(first.nvls_model == NvlsModel::minimum);
  CHECK(second.nvls_model == NvlsModel::efficiency);
  CHECK(second.ring_ll128_most[blackwell][0] == 73.4);
  CHECK(third.ring_ll128_most[blackwell][0] == 40);
  CHECK(second.nvls_tree_most[blackwell][2] == 43.1);
  CHECK(third.nvls_tree_most[blackwell][2] == 80);
  CHECK(second.hop_latency_us[network][nvls_tree][2] == 14);
  CHECK(third.hop_latency_us[network][nvls_tree][2] == 20.9);
}

TEST_CASE("tables say which file they came from and its fingerprint", "[nccl]") {
  const TunerTables tables = load_tuner_tables(shipped_data(), "2.30.7");
  CHECK(tables.file.find("2.30.7.yaml") != std::string::npos);
  CHECK(tables.hash.size() == 16);
}

TEST_CASE("an entry keyed by capability holds from there on", "[nccl]") {
  const std::map<int, double> table = {{80, 1.0}, {90, 2.0}};
  CHECK(entry_for(table, 70) == 1.0);
  CHECK(entry_for(table, 86) == 1.0);
  CHECK(entry_for(table, 90) == 2.0);
  CHECK(entry_for(table, 120) == 2.0);
}
