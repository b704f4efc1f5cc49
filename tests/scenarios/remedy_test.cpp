#include "scenarios/simulate.hpp"

#include "sim/base/error.hpp"

#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>

using namespace stepsim::scenarios;
using stepsim::Bytes;
using stepsim::workloads::FitVerdict;
using stepsim::workloads::MemoryReport;

namespace {

MemoryResult memory_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return account_memory(test_data(), load_text(text, overrides)).memory;
}

std::string text_of(const std::string& model, const std::string& cluster, const std::string& plan,
                    const std::string& training) {
  return "model: " + model + "\ncluster: " + cluster + "\nplan: " + plan +
         "\ntraining: " + training + "\n";
}

const std::string one_node = "{node: dgx-h100, nodes: 1}";
const std::string llama_on_ddp = "{sequence_length: 8192, micro_batch: 1, global_batch: 8}";

/// Files that do not fit, with every key that a change has to mind written and not written.
std::vector<std::string> files() {
  std::vector<std::string> texts;
  for (const char* plan :
       {"{strategy: ddp}", "{strategy: ddp, replicate: 8}", "{strategy: ddp, shard: 1}",
        "{strategy: ddp, replicate: 8, bucket_size: 25 MiB, gradient_as_bucket_view: true}",
        "{strategy: fsdp2}", "{strategy: fsdp2, shard: 8}",
        "{strategy: fsdp2, reshard_after_forward: false}", "{strategy: fsdp2, replicate: 2}",
        "{strategy: fsdp2, shard: 4, replicate: 2}"}) {
    for (const char* training :
         {"{sequence_length: 8192, micro_batch: 1, global_batch: 8}",
          "{sequence_length: 8192, micro_batch: 6}",
          "{sequence_length: 4096, micro_batch: 8, global_batch: 64, activation_checkpointing: "
          "{kind: selective, policy: every_n, n: 3}}"}) {
      texts.push_back(text_of("llama3.2-3b", "{node: dgx-a100-40gb, nodes: 1}", plan, training));
    }
  }
  texts.push_back(text_of("llama3-70b", "{node: dgx-h100, gpus: 8}", "{strategy: fsdp2, shard: 8}",
                          "{sequence_length: 4096, activation_checkpointing: {kind: none}}"));
  texts.push_back(text_of("llama3-70b", one_node, "{strategy: ddp}", llama_on_ddp));
  return texts;
}

void check_promise(const std::string& text, const FitChange& promised) {
  const MemoryReport kept = memory_of(text, promised.overrides).report();
  CHECK(kept.peak_reserved == promised.report.peak_reserved);
  CHECK(kept.outside == promised.report.outside);
  CHECK(kept.capacity == promised.report.capacity);
  CHECK(kept.verdict == promised.report.verdict);
}

}  // namespace

TEST_CASE("following an offer gives exactly the bytes and the verdict it promises") {
  int offers = 0;
  int without_remedy = 0;
  for (const std::string& text : files()) {
    const MemoryResult memory = memory_of(text);
    if (memory.report().fits) continue;
    CAPTURE(text);
    CHECK_FALSE((memory.remedy && memory.nearest));
    if (memory.remedy) CHECK(memory.remedy->report.fits);
    if (memory.nearest) CHECK_FALSE(memory.nearest->report.fits);
    if (!memory.remedy) ++without_remedy;
    const std::optional<FitChange>& offer = memory.remedy ? memory.remedy : memory.nearest;
    if (!offer) continue;
    ++offers;
    CAPTURE(offer->overrides);
    check_promise(text, *offer);
  }
  CHECK(offers > 10);
  CHECK(without_remedy > 0);
}

TEST_CASE("from ddp to fsdp2 the offer takes away what only ddp has, and mends the degrees") {
  const std::string plan =
      "{strategy: ddp, replicate: 8, bucket_size: 25 MiB, gradient_as_bucket_view: true}";
  const MemoryResult memory = memory_of(text_of("llama3-8b", one_node, plan, llama_on_ddp));
  REQUIRE(memory.remedy);
  CHECK(memory.remedy->overrides ==
        std::vector<std::string>{"plan.strategy=fsdp2", "plan.replicate=1", "plan.bucket_size=null",
                                 "plan.gradient_as_bucket_view=null"});
  CHECK(memory.remedy->report.verdict == FitVerdict::fits);
}

TEST_CASE("a change with room to spare is preferred to one that is tight") {
  const std::string training = "{sequence_length: 8192, micro_batch: 1, global_batch: 8}";
  int preferred = 0;
  for (int gib = 24; gib <= 79; gib += 3) {
    const std::string text = text_of(
        "llama3-8b", "{node: dgx-h100, nodes: 1, gpu: {memory: " + std::to_string(gib) + " GiB}}",
        "{strategy: fsdp2}", training);
    const MemoryResult memory = memory_of(text);
    if (!memory.remedy) continue;
    const auto verdict_with = [&](const std::string& kind) {
      return memory_of(text, {"training.activation_checkpointing=" + kind}).report().verdict;
    };
    const bool comfortable =
        verdict_with("selective") == FitVerdict::fits || verdict_with("full") == FitVerdict::fits;
    if (!comfortable) continue;
    CAPTURE(gib);
    CHECK(memory.remedy->report.verdict == FitVerdict::fits);
    if (verdict_with("selective") == FitVerdict::tight) ++preferred;
  }
  CHECK(preferred > 0);
}

TEST_CASE("where no single change is enough a pair is offered, and else what comes nearest") {
  const std::string pair =
      text_of("llama3-8b", "{node: dgx-a100-40gb, nodes: 1}", "{strategy: ddp}", llama_on_ddp);
  const MemoryResult with_pair = memory_of(pair);
  REQUIRE(with_pair.remedy);
  CHECK(with_pair.remedy->overrides.size() == 2);
  CHECK(with_pair.remedy->description.find(" and ") != std::string::npos);

  const std::string hopeless = text_of("llama3.1-405b", one_node, "{strategy: ddp}", llama_on_ddp);
  const MemoryResult nothing = memory_of(hopeless);
  CHECK_FALSE(nothing.remedy);
  REQUIRE(nothing.nearest);
  CHECK(nothing.nearest->report.peak_reserved < nothing.report().peak_reserved);
  check_promise(hopeless, *nothing.nearest);
}
