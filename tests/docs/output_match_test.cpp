#include "tests/docs/output_match.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim::docs;

TEST_CASE("without an elision a line must be equal", "[output_match]") {
  CHECK(line_matches("step 1.5 s", "step 1.5 s"));
  CHECK_FALSE(line_matches("step 1.5 s", "step 1.5 s "));
  CHECK_FALSE(line_matches("step 1.5 s", "step 1.6 s"));
}

TEST_CASE("an elision stands for any text of its line", "[output_match]") {
  CHECK(line_matches("…", ""));
  CHECK(line_matches("step … s", "step 1.5 s"));
  CHECK(line_matches("…step…", "one step"));
  CHECK(line_matches("a … b … c", "a x b y c"));
  CHECK_FALSE(line_matches("step … s", "step 1.5 ms!"));
  CHECK_FALSE(line_matches("a … b … c", "a x c"));
  CHECK_FALSE(line_matches("ab…bc", "abc"));
}

TEST_CASE("a line that is only an elision stands for any number of lines", "[output_match]") {
  CHECK(output_matches({"a", "…", "d"}, {"a", "b", "c", "d"}));
  CHECK(output_matches({"a", "…"}, {"a"}));
  CHECK(output_matches({"…", "c", "…"}, {"a", "b", "c"}));
  CHECK_FALSE(output_matches({"a", "…", "d"}, {"a", "b", "c"}));
  CHECK_FALSE(output_matches({"a"}, {"a", "b"}));
  CHECK_FALSE(output_matches({"a", "b"}, {"a"}));
}

TEST_CASE("an update keeps the shown lines whose elisions still match", "[output_match]") {
  const std::vector<std::string> shown{"version …", "step 1 s"};
  CHECK(updated_output(shown, {"version 7", "step 2 s"}) ==
        std::vector<std::string>{"version …", "step 2 s"});
}
