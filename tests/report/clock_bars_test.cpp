#include "report/clock_bars.hpp"

#include "report/text_format.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim::report;

TEST_CASE("bars are as long as their share") {
  const Style ascii;
  const Style unicode{true, false};
  CHECK(bar(ascii, 0.5, 10) == "#####");
  CHECK(bar(unicode, 0.5, 10) == "█████");
  CHECK(bar(unicode, 0.55, 10) == "█████▌");
  CHECK(bar(unicode, 1.0, 3) == "███");
  CHECK(display_width(bar(unicode, 0.549, 10)) == 6);
}

TEST_CASE("bars show what is small and clamp what is no share") {
  const Style ascii;
  const Style unicode{true, false};
  CHECK(bar(unicode, 1e-9, 10) == "▏");
  CHECK(bar(ascii, 1e-9, 10) == "#");
  CHECK(bar(ascii, 0, 10).empty());
  CHECK(bar(ascii, -1, 10).empty());
  CHECK(bar(ascii, 7, 4) == "####");
}

TEST_CASE("without colours paint changes nothing") {
  CHECK(paint(Style{true, false}, Colour::red, "text") == "text");
  CHECK(paint(Style{true, true}, Colour::red, "text") == "\x1b[31mtext\x1b[0m");
  CHECK(paint(Style{true, true}, Colour::none, "text") == "text");
}
