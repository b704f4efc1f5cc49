#include "sim/base/document.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

#include <string>

using namespace stepsim;

namespace {

Document yaml(const std::string& text, const DocumentOptions& options = {}) {
  return parse_document(text, "a.yaml", DocumentFormat::yaml, options);
}

Document json(const std::string& text, const DocumentOptions& options = {}) {
  return parse_document(text, "a.json", DocumentFormat::json, options);
}

template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::string yaml_message(const std::string& text, const DocumentOptions& options = {}) {
  return message_of([&] { yaml(text, options); });
}

std::string json_message(const std::string& text, const DocumentOptions& options = {}) {
  return message_of([&] { json(text, options); });
}

std::string nested(const std::string& open, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += open;
  return text;
}

}  // namespace

TEST_CASE("YAML keys and values know their line and column, counted from 1 in characters") {
  const Document document =
      yaml("# comment\na: 1\nblock:\n  key:   'quoted'\n  list: [x, {y: 2}]\n");
  const DocumentNode& root = document.root;
  REQUIRE(root.is_map());
  REQUIRE(root.find("a")->where().to_string() == "a.yaml:2:4");
  const DocumentNode& block = *root.find("block");
  REQUIRE(block.find_entry("key")->where().to_string() == "a.yaml:4:3");
  REQUIRE(block.find("key")->where().to_string() == "a.yaml:4:10");
  REQUIRE(block.find("key")->quoted);
  REQUIRE_FALSE(root.find("a")->quoted);
  REQUIRE(block.find("list")->items[1].find("y")->where().to_string() == "a.yaml:5:17");
  REQUIRE(yaml("é: {ü: x}").root.find("é")->find("ü")->where().to_string() == "a.yaml:1:8");
  REQUIRE(yaml("\xEF\xBB\xBF"
               "a: 1")
              .root.find("a")
              ->where()
              .to_string() == "a.yaml:1:4");
  REQUIRE(yaml("a: 1\r\nb: 2\r\n").root.find("b")->where().to_string() == "a.yaml:2:4");
}

TEST_CASE("JSON keys and values know their line and column too") {
  const Document document =
      json("{\n  \"a\\\"b\": 1.50,\n  \"list\": [true, null, -2e3, \"é\", {\"k\": {}}]\n}\n");
  const DocumentNode& root = document.root;
  REQUIRE(root.find_entry("a\"b")->where().to_string() == "a.json:2:3");
  REQUIRE(root.find("a\"b")->where().to_string() == "a.json:2:11");
  REQUIRE(root.find("a\"b")->text == "1.50");
  const auto& items = root.find("list")->items;
  REQUIRE(items.size() == 5);
  REQUIRE(items[0].text == "true");
  REQUIRE(items[1].is_null());
  REQUIRE(items[2].text == "-2e3");
  REQUIRE(items[3].quoted);
  REQUIRE(items[4].find("k")->where().to_string() == "a.json:3:41");
}

TEST_CASE("scalars stay text: nothing is guessed from their looks") {
  const Document document = yaml("a: 010\nb: yes\nc: ~\nd: null\ne: '~'\nf:\n");
  REQUIRE(document.root.find("a")->text == "010");
  REQUIRE(document.root.find("b")->text == "yes");
  REQUIRE(document.root.find("c")->is_null());
  REQUIRE(document.root.find("d")->is_null());
  REQUIRE(document.root.find("e")->text == "~");
  REQUIRE(document.root.find("f")->is_null());
}

TEST_CASE("duplicate keys are refused in both formats, all of them in one run") {
  REQUIRE(yaml_message("a: 1\nb: {c: 1, c: 2}\na: 3\n") ==
          "a.yaml:2:11: the key \"c\" is there twice (expected it once; first at line 2)\n"
          "a.yaml:3:1: the key \"a\" is there twice (expected it once; first at line 1)");
  REQUIRE(json_message("{\"a\": 1,\n \"a\": 2}") ==
          "a.json:2:2: the key \"a\" is there twice (expected it once; first at line 1)");
}

TEST_CASE("a tree with refused keys still has the rest, for further problems to be found") {
  Diagnostics problems;
  const Document document = parse_document("x: &x 1\n<<: {y: 2}\nx: 3\nz: *x\nw: {x: [*x]}\n",
                                           "a.yaml", DocumentFormat::yaml, problems);
  REQUIRE(problems.count() == 2);
  REQUIRE(document.root.entries.size() == 3);
  REQUIRE(document.root.find("x")->text == "1");
  REQUIRE(document.root.find("z")->text == "1");
  REQUIRE(document.root.find("w")->find("x")->items[0].text == "1");
}

TEST_CASE("a value that is not written stands where its key does") {
  REQUIRE(yaml("a:\nb: 1\n").root.find("a")->where().to_string() == "a.yaml:1:1");
  REQUIRE(yaml("a: {b: , c: 1}\n").root.find("a")->find("b")->where().to_string() == "a.yaml:1:5");
}

TEST_CASE("aliases are expanded, and keep the place of what they stand for") {
  const Document document = yaml("a: &x {k: 1}\nb: *x\nc: [*x, &y z, *y]\n");
  REQUIRE(document.root.find("b")->find("k")->where().to_string() == "a.yaml:1:11");
  REQUIRE(document.root.find("c")->items[0].find("k")->text == "1");
  REQUIRE(document.root.find("c")->items[2].text == "z");
  // An anchor may be given again: an alias takes the last one before it.
  REQUIRE(yaml("a: &x 1\nb: *x\nc: &x 2\nd: *x\n").root.find("d")->text == "2");
}

TEST_CASE("aliases that contain themselves or expand without end are refused") {
  REQUIRE(yaml_message("a: &x {b: *x}") == "a.yaml:1:11: is an alias of a block that contains it");
  REQUIRE(yaml_message("&x [1, [*x]]") == "a.yaml:1:9: is an alias of a block that contains it");
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    const std::string name = "a" + std::to_string(i);
    laughs += name + ": &" + name + " [" + before;
    for (int k = 1; k < 10; ++k) laughs += ", " + before;
    laughs += "]\n";
  }
  REQUIRE(yaml_message(laughs) ==
          "a.yaml:5:45: is an alias that expands the file to more than 100000 values");
  std::string deep = "a0: &a0 [x]\n";
  for (int i = 1; i < 70; ++i) {
    deep += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            "]\n";
  }
  REQUIRE(yaml_message(deep) == "a.yaml:64:12: is an alias that nests more than 64 levels deep");
  // yaml-cpp 0.8 adds the name.
  REQUIRE_THAT(yaml_message("a: *nothing\n"),
               Catch::Matchers::StartsWith(
                   "a.yaml:1:4: is not valid YAML: the referenced anchor is not defined"));
}

TEST_CASE("nesting is limited in both formats") {
  REQUIRE(yaml_message(nested("[", 100) + nested("]", 100)) ==
          "a.yaml:1:65: is nested too deeply (expected at most 64 levels)");
  REQUIRE(json_message(nested("[", 100'000)) ==
          "a.json:1:65: is nested too deeply (expected at most 64 levels)");
  REQUIRE(json_message(nested("{\"a\":", 100'000)) ==
          "a.json:1:321: is nested too deeply (expected at most 64 levels)");
  REQUIRE(yaml_message(nested("- ", 100)) ==
          "a.yaml:1:129: is nested too deeply (expected at most 64 levels)");
  REQUIRE(yaml(nested("[", 64) + nested("]", 64)).root.is_list());
}

TEST_CASE("what YAML allows and readers disagree on is refused") {
  REQUIRE(yaml_message("a: 1\n---\nb: 2\n") ==
          "a.yaml:2:1: is a second document (expected one document in a file)");
  REQUIRE(yaml_message("base: &b {x: 1}\nc: {<<: *b}\n") ==
          "a.yaml:2:5: is a merge key, which is not supported (expected the keys written out)");
  REQUIRE(yaml_message("a: !!int 3\n") ==
          "a.yaml:1:4: has a YAML tag, which is not supported (expected a plain value)");
  REQUIRE(yaml_message("? [a, b]\n: 1\n") ==
          "a.yaml:1:3: is a list or a block used as a key, or one that is never closed (expected "
          "text)");
  REQUIRE(yaml_message(": 1\n") == "a.yaml:1:1: is an empty key (expected text)");
  REQUIRE(yaml_message("a: &x 1\n*x : 2\n") ==
          "a.yaml:2:1: is an alias used as a key (expected text)");
  REQUIRE(yaml_message("a:\n\tb: 1\n") ==
          "a.yaml:2:1: is a tab in the indentation (expected spaces)");
  REQUIRE(yaml_message("a: [1, 2\n") ==
          "a.yaml:2:1: is not valid YAML: end of sequence flow not found");
}

TEST_CASE("binary and empty files are refused") {
  REQUIRE(yaml_message("") == "a.yaml:1:1: is empty");
  REQUIRE(yaml_message(" \n\n") == "a.yaml:1:1: is empty");
  REQUIRE(yaml_message("# only a comment\n") == "a.yaml:1:1: is empty");
  REQUIRE(yaml_message(std::string("a: 1\nb: \0", 9)) ==
          "a.yaml:2:4: is the control character \"\\x00\" (expected a text file)");
  // yaml-cpp alone takes this byte for the end of the file and drops the rest.
  REQUIRE(yaml_message("a: 1\n\x04"
                       "b: 2\n") ==
          "a.yaml:2:1: is the control character \"\\x04\" (expected a text file)");
  REQUIRE(yaml_message("a: \xff\xfe\n") == "a.yaml:1:4: is not UTF-8 text (expected a text file)");
  for (const char* bad : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
    REQUIRE(yaml_message(bad) == "a.yaml:1:1: is not UTF-8 text (expected a text file)");
  }
  REQUIRE(yaml_message("a: \"\\0\"\n") == "a.yaml:1:4: has a NUL character in it");
  REQUIRE(json_message("{\"a\": \"\\u0000\"}") == "a.json:1:7: has a NUL character in it");
}

TEST_CASE("files and numbers of values are limited") {
  DocumentOptions small;
  small.largest_file_bytes = 10;
  REQUIRE(yaml_message("a: 123456789\n", small) ==
          "a.yaml:1:1: is 13 bytes long (expected at most 10 bytes)");
  DocumentOptions few;
  few.most_nodes = 3;
  REQUIRE(yaml_message("[1, 2, 3]", few) ==
          "a.yaml:1:8: is one value too many (expected at most 3 values)");
  REQUIRE(yaml_message("[[[[", few) ==
          "a.yaml:1:4: is one bracket or comma too many (expected at most 3)");
}

TEST_CASE("invalid JSON is refused with its place") {
  REQUIRE(json_message("{\n  \"a\": 01\n}") ==
          "a.json:2:9: is not valid JSON: syntax error while parsing object - unexpected number "
          "literal; expected '}'");
  REQUIRE(json_message("{\"a\": NaN}") ==
          "a.json:1:7: is not valid JSON: syntax error while parsing value - invalid literal");
  REQUIRE(json_message("{\"a\": 1,}") ==
          "a.json:1:9: is not valid JSON: syntax error while parsing object key - unexpected '}'; "
          "expected string literal");
  REQUIRE(json_message("{} {}") ==
          "a.json:1:4: is not valid JSON: syntax error while parsing value - unexpected '{'; "
          "expected end of input");
  REQUIRE(json_message("{\"a\": 1e999}") ==
          "a.json:1:11: is not valid JSON: number overflow parsing '1e999'");
}

TEST_CASE("JSON comments and trailing commas are read only when asked for, and keep places") {
  const std::string text =
      "{ // one, two\n  \"a\": [1, 2, /* , */ ],\n  \"b\": \"x,] // no\", // end ,\n}\n";
  REQUIRE(json_message(text) != "nothing was thrown");
  DocumentOptions options;
  options.json_comments = true;
  const Document document = json(text, options);
  REQUIRE(document.root.find("a")->items.size() == 2);
  REQUIRE(document.root.find("b")->text == "x,] // no");
  REQUIRE(document.root.find("b")->where().to_string() == "a.json:3:8");
  REQUIRE(json_message("{\"a\": 1 /* ", options) != "nothing was thrown");
  REQUIRE(json_message("{\"a\": \"\\", options) != "nothing was thrown");
}

TEST_CASE("what is no readable file is refused by name") {
  REQUIRE(message_of([] { read_document("/nowhere/a.yaml"); }) ==
          "/nowhere/a.yaml: there is no such file");
  REQUIRE(message_of([] { read_document("/usr"); }) == "/usr: is a directory (expected a file)");
  REQUIRE(message_of([] { read_document("/dev/zero"); }) ==
          "/dev/zero:1:1: does not end (expected at most 8000000 bytes)");
  REQUIRE(message_of([] { read_document("/dev/zero/a"); }) == "/dev/zero/a: there is no such file");
}

TEST_CASE("a quoted text without its closing quote is refused where it begins") {
  const auto complaint = [](const std::string& text) {
    return message_of([&] { parse_document(text, "a.yaml", DocumentFormat::yaml); });
  };
  const std::string unclosed = "is a quoted text without its closing quote";
  REQUIRE(complaint("a: 1\nb: \"two\n") == "a.yaml:2:4: " + unclosed);
  REQUIRE(complaint("a: 1\nb: \"two\n  more\n") == "a.yaml:2:4: " + unclosed);
  REQUIRE(complaint("a: \"x\"\nb: \"two\\\"\n") == "a.yaml:2:4: " + unclosed);
  REQUIRE(complaint("a: 'it''s\n") == "a.yaml:1:4: " + unclosed);
  REQUIRE(complaint("a: \"").ends_with(unclosed));
  for (const char* ends_within : {"a: 1\nb: \"two", "{a: \"two}", "a: 'it''s", "a: \"two "}) {
    CAPTURE(ends_within);
    REQUIRE(complaint(ends_within).ends_with("closing quote is missing"));
  }
  for (const char* closed :
       {"a: \"two\"", "a: 'it''s'", "a: \"x\\\"\"", "a: \"\"", "a: ''", "a: |\n  it's \"x\n",
        "a: \"two\n  lines\"\n", "\"a\": \"b\" # \"c\n"}) {
    CAPTURE(closed);
    REQUIRE_NOTHROW(parse_document(closed, "a.yaml", DocumentFormat::yaml));
  }
}
