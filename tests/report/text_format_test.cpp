#include "report/text_format.hpp"

#include "tests/support/catch.hpp"

#include <string>
#include <vector>

using namespace stepsim;
using namespace stepsim::report;

TEST_CASE("escape sequences and control characters of a name are shown, not acted on") {
  CHECK(inert("plain name-1.0_x") == "plain name-1.0_x");
  CHECK(inert("a\x1b[31mred") == "a\\x1b[31mred");
  CHECK(inert("two\nlines\r\t") == "two\\x0alines\\x0d\\x09");
  CHECK(inert(std::string("nul\0byte", 8)) == "nul\\x00byte");
  CHECK(inert("\x7f") == "\\x7f");
  CHECK(inert("\xc2\x9b"
              "31m") == "\\x9b31m");  // the one-character form of escape [
}

TEST_CASE("characters that turn or hide text are shown, other scripts are kept") {
  CHECK(inert("\xe2\x80\xae"
              "abc") == "\\u202eabc");
  CHECK(inert("\xe2\x80\xa8") == "\\u2028");
  CHECK(inert("größe 模型 ×") == "größe 模型 ×");
}

TEST_CASE("bytes that are not UTF-8 are shown as bytes") {
  CHECK(inert("\xff\xfe") == "\\xff\\xfe");
  CHECK(inert("\xc3") == "\\xc3");                    // cut short
  CHECK(inert("\xc0\xaf") == "\\xc0\\xaf");           // overlong
  CHECK(inert("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // surrogate
  CHECK(inert("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
}

TEST_CASE("what inert returns is inert") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string once = inert(all);
  CHECK(inert(once) == once);
  for (const char character : once) CHECK(static_cast<unsigned char>(character) >= 0x20);
}

TEST_CASE("quantities show three digits in the unit that reads best") {
  CHECK(human_time(9.6149) == "9.61 s");
  CHECK(human_time(123.4) == "123 s");
  CHECK(human_time(0.0483) == "48.3 ms");
  CHECK(human_time(0.99951) == "1.00 s");
  CHECK(human_time(5.2e-6) == "5.20 us");
  CHECK(human_time(3e-9) == "3.00 ns");
  CHECK(human_time(0.0) == "0 s");
  CHECK(human_bytes(Bytes(0)) == "0 GiB");
  CHECK(human_bytes(Bytes(65'927'000'000)) == "61.4 GiB");
  CHECK(human_bytes(Bytes(3'355'443)) == "3.20 MiB");
  CHECK(human_bytes(Bytes(100)) == "100 B");
  CHECK(human_count(70.61e9) == "70.6 B");
  CHECK(human_count(54'600) == "54.6 k");
  CHECK(human_count(853) == "853");
  CHECK(percent(0.4123) == "41.2 %");
  CHECK(percent(1.0) == "100 %");
}

TEST_CASE("whole picoseconds become the double nearest to their decimal value") {
  CHECK(exact_seconds(Time::picoseconds(9'612'345'678'901)) == 9.612345678901);
  CHECK(exact_seconds(Time::picoseconds(1)) == 1e-12);
}

TEST_CASE("wrapped lines keep to the width and lose no word") {
  const std::vector<std::string> lines = wrap("one two three four", 9);
  CHECK(lines == std::vector<std::string>{"one two", "three", "four"});
  CHECK(wrap("", 9) == std::vector<std::string>{""});
  CHECK(wrap("long", 4) == std::vector<std::string>{"long"});
}

TEST_CASE("parts are wrapped between parts only") {
  const std::vector<std::string> parts = {"compute 1.00 s", "idle 2.00 s", "exposed 3.00 s"};
  CHECK(wrap_parts(parts, ", ", 30) ==
        std::vector<std::string>{"compute 1.00 s, idle 2.00 s", "exposed 3.00 s"});
}

TEST_CASE("words longer than a line are broken, others are not") {
  CHECK(wrap("ab abcdefgh c", 3) == std::vector<std::string>{"ab", "abc", "def", "gh", "c"});
  CHECK(wrap("äöüäöü", 4) == std::vector<std::string>{"äöüä", "öü"});
  CHECK(wrap_parts({"one  two", "abcdefghijkl"}, ", ", 10) ==
        std::vector<std::string>{"one  two", "abcdefghij", "kl"});
}
