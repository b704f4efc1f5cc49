#include "workloads/hf_config.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <cstdlib>

using namespace stepsim;
using namespace stepsim::workloads;

TEST_CASE("every model of the zoo has the parameters its source published", "[model_zoo]") {
  const DataDirectory data = DataDirectory::find();
  const std::vector<std::string> names = zoo_names(data);
  CHECK(names.size() >= 60);
  for (const std::string& name : names) {
    CAPTURE(name);
    const ModelFile file = load_zoo_model(data, name);
    REQUIRE(file.published.has_value());
    CHECK_FALSE(file.published->source.empty());
    const Model& model = file.model;
    std::int64_t count = parameter_count(model);
    if (file.published->counts_tied_head_twice) {
      REQUIRE(model.tied_embeddings);
      count += model.vocabulary * model.hidden;
    }
    const std::int64_t error = std::abs(count - file.published->parameters);
    CAPTURE(count, file.published->parameters);
    CHECK(2 * error <= file.published->rounded_to - (file.published->rounded_to == 1 ? 1 : 0));
    CHECK(file.ignored.empty());
    CHECK(model.name == name);
  }
}

TEST_CASE("the zoo has the models that scenarios and published runs name", "[model_zoo]") {
  const std::vector<std::string> names = zoo_names(DataDirectory::find());
  for (const char* name :
       {"llama2-7b",   "llama2-13b",  "llama2-70b", "llama3-8b",  "llama3-70b",   "llama3.1-405b",
        "llama3.2-1b", "llama3.2-3b", "gpt2-124m",  "gpt2-1.5b",  "gpt3-175b",    "mpt-125m",
        "mpt-70b",     "opt-125m",    "opt-175b",   "bloom-176b", "gpt-neox-20b", "mistral-7b",
        "qwen2-72b",   "qwen3-32b",   "gemma2-27b", "falcon-180b"}) {
    CAPTURE(name);
    CHECK(std::find(names.begin(), names.end(), name) != names.end());
  }
}

TEST_CASE("a model that is not in the zoo is refused with the nearest that is", "[model_zoo]") {
  try {
    load_zoo_model(DataDirectory::find(), "llama3-80b");
    FAIL("not refused");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().problem == "there is no model named \"llama3-80b\"");
    CHECK(error.diagnostics().front().suggestion == "llama3-70b");
  }
}

TEST_CASE("llm-foundry's models have the parameters of its tables at every length", "[model_zoo]") {
  // mosaicml/llm-foundry scripts/train/benchmarking/README.md: position tables of 512 to 65,536
  // rows.
  const DataDirectory data = DataDirectory::find();
  const auto count = [&](const char* name, std::int64_t length) {
    return parameter_count(for_sequence_length(load_zoo_model(data, name).model, length));
  };
  CHECK(count("mpt-7b", 65536) == 6'918'905'856);
  CHECK(count("mpt-7b", 1024) == 6'654'664'704);
  CHECK(count("mpt-30b", 8192) == 30'019'254'272);
  CHECK(count("mpt-13b", 32768) == 13'011'240'960);
  CHECK(count("mpt-350m", 512) == 354'412'544);
  CHECK(count("mpt-125m", 65536) == 174'070'272);
}
