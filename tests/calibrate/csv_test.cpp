#include "calibrate/csv.hpp"

#include "tests/support/catch.hpp"

#include <functional>
#include <string>

using namespace stepsim;
using stepsim::calibrate::CsvTable;

namespace {

std::string error(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& problem) {
    return problem.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a table gives its columns by name and its rows with their lines", "[csv]") {
  const CsvTable table = CsvTable::parse("a,b,c\n1,\"x, \"\"y\"\"\",2.5\r\n\n3,,1e-3\n", "t.csv");
  REQUIRE(table.rows().size() == 2);
  CHECK(table.integer(table.rows()[0], table.column("a"), 1) == 1);
  CHECK(table.text(table.rows()[0], table.column("b")) == "x, \"y\"");
  CHECK(table.positive(table.rows()[1], table.column("c")) == 1e-3);
  CHECK(table.rows()[1].line == 4);
}

TEST_CASE("what is no table is refused with its line", "[csv]") {
  const auto parse = [](const char* text) {
    return error([&] { CsvTable::parse(text, "t.csv"); });
  };
  CHECK(parse("").find("empty") != std::string::npos);
  CHECK(parse("a,a\n").find("same name") != std::string::npos);
  CHECK(parse("a,b\n1\n").find("t.csv:2: has 1 fields") != std::string::npos);
  CHECK(parse("a,b\n1,\"2\n").find("t.csv:2: a quote is not closed") != std::string::npos);
  CHECK(error([] { CsvTable::read("/nowhere/t.csv"); }).find("cannot be read") !=
        std::string::npos);
}

TEST_CASE("numbers that cannot be measurements are refused with row and column", "[csv]") {
  const CsvTable table = CsvTable::parse("m,time\n0,-1\n1x,nan\n1,0\n1,inf\n1,1e999\n", "t.csv");
  const auto& rows = table.rows();
  for (std::size_t i = 0; i < rows.size(); ++i)
    CHECK(error([&] { table.positive(rows[i], 1); }).find("t.csv:" + std::to_string(i + 2)) == 0);
  CHECK(error([&] { table.integer(rows[0], 0, 1); }).find("at least 1") != std::string::npos);
  CHECK(error([&] { table.integer(rows[1], 0, 1); }).find("1x") != std::string::npos);
}

TEST_CASE("a misspelt column names the nearest", "[csv]") {
  const CsvTable table = CsvTable::parse("time_us,m\n1,1\n", "t.csv");
  CHECK(error([&] { table.column("time_ms"); }).find("time_us") != std::string::npos);
}
