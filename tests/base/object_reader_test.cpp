#include "sim/base/object_reader.hpp"

#include "tests/support/catch.hpp"

#include <string>
#include <vector>

using namespace stepsim;

namespace {

enum class Colour { red, green };
const Choices<Colour> colours{{"red", Colour::red}, {"green", Colour::green}};

DocumentNode yaml(const std::string& text) {
  return parse_document(text, "a.yaml", DocumentFormat::yaml).root;
}

std::string message_of(const Diagnostics& problems) {
  try {
    problems.throw_if_any();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

// What reading `key: TEXT` as a field of this type complains about.
template <class Field, class Format = DefaultFormat<Field>>
std::string complaint(const std::string& text, const Format& format = {}) {
  const DocumentNode root = yaml("key: " + text);
  Diagnostics problems;
  ObjectReader reader(root, "block", problems);
  Field field{};
  reader.required("key", field, format);
  return message_of(problems);
}

}  // namespace

TEST_CASE("fields of every kind are read") {
  const DocumentNode root = yaml(
      "text: h100\nflag: true\ncount: 8\nwide: -5\nshare: 0.25\ntime: 5 us\nmemory: 80 GB\n"
      "rate: 400 Gb/s\npeak: 989 TFLOP/s\npower: 700 W\nclock: 1.98 GHz\ncolour: green\n"
      "list: [1, 2]\n");
  Diagnostics problems;
  ObjectReader reader(root, "", problems);
  std::string text;
  bool flag = false;
  int count = 0;
  std::int64_t wide = 0;
  double share = 0;
  Time time;
  Bytes memory;
  std::optional<Bandwidth> rate;
  FlopRate peak;
  double power = 0;
  double clock = 0;
  Colour colour = Colour::red;
  std::vector<int> list;
  CHECK(reader.required("text", text));
  CHECK(reader.required("flag", flag));
  CHECK(reader.required("count", count, Integer{1, 72}));
  CHECK(reader.required("wide", wide));
  CHECK(reader.required("share", share, Number{0, 1}));
  CHECK(reader.required("time", time));
  CHECK(reader.required("memory", memory));
  CHECK(reader.required("rate", rate));
  CHECK(reader.required("peak", peak));
  CHECK(reader.required("power", power, Power{}));
  CHECK(reader.required("clock", clock, Frequency{}));
  CHECK(reader.required("colour", colour, colours));
  CHECK(reader.required("list", list, Integer{1, 2}));
  CHECK_FALSE(reader.optional("absent", count));
  reader.finish();
  REQUIRE(message_of(problems) == "");
  REQUIRE(text == "h100");
  REQUIRE(flag);
  REQUIRE(count == 8);
  REQUIRE(wide == -5);
  REQUIRE(share == 0.25);
  REQUIRE(time == Time::microseconds(5));
  REQUIRE(rate == Bandwidth::gigabytes_per_second(50));
  REQUIRE(power == 700);
  REQUIRE(clock == 1.98e9);
  REQUIRE(colour == Colour::green);
  REQUIRE(list == std::vector<int>{1, 2});
  REQUIRE(reader.ok());
}

TEST_CASE("all problems of a block are reported together, in the order of the file") {
  const DocumentNode root = yaml("nods: 8\ngpus: 0\nname: [a]\nrate: 400\ncolour: gren\n");
  Diagnostics problems;
  ObjectReader reader(root, "cluster", problems);
  std::string name;
  int nodes = 3;
  int gpus = 0;
  Bandwidth rate;
  Colour colour = Colour::red;
  reader.required("colour", colour, colours);
  reader.required("name", name);
  CHECK_FALSE(reader.required("nodes", nodes, Integer{.least = 1}));
  reader.required("gpus", gpus, Integer{.least = 1});
  reader.required("rate", rate);
  reader.finish();
  REQUIRE(nodes == 3);
  REQUIRE_FALSE(reader.ok());
  REQUIRE(message_of(problems) ==
          "a.yaml:1:1: cluster.nodes: is missing\n"
          "a.yaml:1:1: cluster.nods: is not a known key (did you mean \"nodes\"?)\n"
          "a.yaml:2:7: cluster.gpus: is 0 (expected a whole number of at least 1)\n"
          "a.yaml:3:7: cluster.name: is a list (expected text)\n"
          "a.yaml:4:7: cluster.rate: \"400\" has no unit (expected a rate such as 400 Gb/s or 50 "
          "GB/s (b is bits, B is bytes)) (did you mean \"400 Gb/s\"?)\n"
          "a.yaml:5:9: cluster.colour: is \"gren\" (expected red or green) (did you mean "
          "\"green\"?)");
}

TEST_CASE("values of the wrong kind are refused with what was expected") {
  CHECK(complaint<bool>("yes") ==
        "a.yaml:1:6: block.key: is \"yes\" (expected true or false) (did you mean \"true\"?)");
  CHECK(complaint<bool>("off") ==
        "a.yaml:1:6: block.key: is \"off\" (expected true or false) (did you mean \"false\"?)");
  CHECK(complaint<bool>("'true'") ==
        "a.yaml:1:6: block.key: is the text \"true\" (expected true or false, without quotes)");
  CHECK(complaint<int>("010") ==
        "a.yaml:1:6: block.key: \"010\" is not a whole number (expected a whole "
        "number) (did you mean \"10\"?)");
  CHECK(complaint<int>("3000000000", Integer{.least = 1}) ==
        "a.yaml:1:6: block.key: is 3000000000 (expected a whole number from 1 to 2147483647)");
  CHECK(complaint<std::int64_t>("\"8\"") ==
        "a.yaml:1:6: block.key: is the text \"8\" (expected a whole number, without quotes)");
  CHECK(complaint<double>(".nan", Number{0, 1}) ==
        "a.yaml:1:6: block.key: \".nan\" is not a number (expected a number from 0 to 1)");
  CHECK(complaint<double>("1.5", Number{0, 1}) ==
        "a.yaml:1:6: block.key: is 1.5 (expected a number from 0 to 1)");
  CHECK(complaint<std::string>("2.20") ==
        "a.yaml:1:6: block.key: is 2.20 (expected text; put it in quotes: '2.20')");
  CHECK(complaint<std::string>("") == "a.yaml:1:1: block.key: is empty (expected text)");
  CHECK(complaint<Time>("{a: 1}") ==
        "a.yaml:1:6: block.key: is a block of keys (expected a time such as 3.9 s or 250 us)");
  CHECK(complaint<std::vector<int>>("[1, x, 3, y]", Integer{0, 9}) ==
        "a.yaml:1:10: block.key[1]: \"x\" is not a whole number (expected a whole number from 0 to "
        "9)\n"
        "a.yaml:1:16: block.key[3]: \"y\" is not a whole number (expected a whole number from 0 to "
        "9)");
}

TEST_CASE("a sourced value carries kind and note of its source") {
  const DocumentNode root = yaml(
      "peak: { value: 989 TFLOP/s, source: datasheet, note: H100 datasheet }\n"
      "sms: { value: 132, source: datasheet, note: H100 datasheet }\n");
  Diagnostics problems;
  ObjectReader reader(root, "", problems);
  Sourced<FlopRate> peak;
  Sourced<int> sms;
  reader.required("peak", peak);
  reader.required("sms", sms, Integer{1, 1000});
  reader.finish();
  REQUIRE(message_of(problems) == "");
  REQUIRE(peak.value == FlopRate::teraflops(989));
  REQUIRE(peak.source.kind == SourceKind::datasheet);
  REQUIRE(peak.source.note == "H100 datasheet");
  REQUIRE(sms.value == 132);
  CHECK(complaint<Sourced<int>>("132") ==
        "a.yaml:1:6: block.key: is \"132\" (expected a block of keys)");
  CHECK(complaint<Sourced<int>>("{ value: 1, source: guess }") ==
        "a.yaml:1:6: block.key.note: is missing\n"
        "a.yaml:1:26: block.key.source: is \"guess\" (expected datasheet, measured, fitted or "
        "assumed)");
}

TEST_CASE("a block that is none is reported once") {
  const DocumentNode root = yaml("[1, 2]");
  Diagnostics problems;
  ObjectReader reader(root, "cluster", problems);
  int nodes = 0;
  reader.required("nodes", nodes);
  reader.finish();
  REQUIRE(message_of(problems) == "a.yaml:1:1: cluster: is a list (expected a block of keys)");
}

TEST_CASE("a hundred problems are told, of the rest the number") {
  std::string text;
  for (int i = 0; i < 150; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const DocumentNode root = yaml(text);
  Diagnostics problems;
  ObjectReader reader(root, "", problems);
  reader.finish();
  REQUIRE_THAT(message_of(problems), Catch::Matchers::EndsWith("\na.yaml: and 50 more problems"));
}

TEST_CASE("a mistyped key is taken for one that is not there") {
  const DocumentNode root = yaml("node: a\nnods: 2\n\"e\\e[31m\": 1\n");
  Diagnostics problems;
  ObjectReader reader(root, "", problems);
  std::string node;
  int nodes = 1;
  reader.optional("node", node);
  reader.optional("nodes", nodes);
  reader.finish();
  REQUIRE(message_of(problems) ==
          "a.yaml:2:1: nods: is not a known key (did you mean \"nodes\"?)\n"
          "a.yaml:3:1: e\\x1b[31m: is not a known key (expected node or nodes)");
}
