#include "sim/base/message_text.hpp"

#include "tests/support/catch.hpp"

#include <string>
#include <vector>

using stepsim::in_quotes;
using stepsim::one_of;

TEST_CASE("text is shown on one line, with what acts on a terminal escaped") {
  REQUIRE(in_quotes("8 GPUs, é") == "\"8 GPUs, é\"");
  REQUIRE(in_quotes("a\nb\tc") == "\"a\\nb\\tc\"");
  REQUIRE(in_quotes("\x1b[31m") == "\"\\x1b[31m\"");
  REQUIRE(in_quotes("\xC2\x9B"
                    "x") == "\"\\xc2\\x9bx\"");
  REQUIRE(in_quotes("\xE2\x80\xAE"
                    "x") == "\"\\xe2\\x80\\xaex\"");  // turns text around
}

TEST_CASE("long text is cut after sixty characters, not bytes") {
  std::string accents;
  for (int i = 0; i < 60; ++i) accents += "é";
  REQUIRE(in_quotes(accents) == '"' + accents + '"');
  REQUIRE(in_quotes(accents + "x") == '"' + accents + "…\"");
}

TEST_CASE("words are listed with commas and an or") {
  REQUIRE(one_of(std::vector<std::string>{"a"}) == "a");
  REQUIRE(one_of(std::vector<std::string>{"a", "b"}) == "a or b");
  REQUIRE(one_of(std::vector<std::string>{"a", "b", "c"}) == "a, b or c");
}
