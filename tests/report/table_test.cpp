#include "report/table.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::report;

namespace {

Table small_table() {
  Table table{{{"name"}, {"size", Align::right}}, {}};
  table.add_row({"h100", "80"});
  table.add_row({"a|b", "1234"});
  return table;
}

}  // namespace

TEST_CASE("a table's text is aligned and has no trailing spaces") {
  CHECK(to_text(small_table()) ==
        "  name  size\n"
        "  h100    80\n"
        "  a|b   1234\n");
}

TEST_CASE("a table's Markdown escapes bars") {
  CHECK(to_markdown(small_table()) ==
        "| name | size |\n"
        "| :-- | --: |\n"
        "| h100 | 80 |\n"
        "| a\\|b | 1234 |\n");
}

TEST_CASE("a table's CSV quotes what needs quotes") {
  Table table{{{"key"}, {"value"}}, {}};
  table.add_row({"comma, quote \"", "-1.5e3"});
  CHECK(to_csv(table) == "key,value\n\"comma, quote \"\"\",-1.5e3\n");
}

TEST_CASE("a spreadsheet takes no cell for a formula") {
  Table table{{{"value"}}, {}};
  for (const char* cell : {"=1+1", "+cmd", "-cmd", "@x", "-3", "+4.5"}) table.add_row({cell});
  CHECK(to_csv(table) == "value\n'=1+1\n'+cmd\n'-cmd\n'@x\n-3\n+4.5\n");
}

TEST_CASE("cells are inert in every form") {
  Table table{{{"value"}}, {}};
  table.add_row({"a\nb\x1b[2J"});
  for (const std::string& text : {to_text(table), to_markdown(table), to_csv(table)}) {
    CHECK(text.find("x0ab") != std::string::npos);
    CHECK(text.find("x1b") != std::string::npos);
    CHECK(text.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("a row with the wrong number of cells is refused") {
  Table table{{{"one"}, {"two"}}, {}};
  CHECK_THROWS_AS(table.add_row({"only"}), InternalError);
}
