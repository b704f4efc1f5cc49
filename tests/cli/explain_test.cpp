// What a step waits for, and what would change it.

#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

#include <set>
#include <string>

using namespace stepsim::test;
using nlohmann::ordered_json;

namespace {

const std::string two_nodes =
    "explain scenarios/examples/llama3.2-1b-1xh100.yaml --set training.global_batch=16 "
    "--set training.micro_batch=1 --set cluster.nodes=2 --set cluster.gpus=16 "
    "--set plan.strategy=fsdp2 --set plan.shard=16";

double number(const ordered_json& json, const char* key) { return json.at(key).get<double>(); }

/// The entry of a list that is about one clock or resource.
ordered_json about(const ordered_json& list, const char* key, const std::string& what) {
  for (const ordered_json& entry : list)
    if (entry.at(key) == what) return entry;
  FAIL("nothing about " << what);
  return {};
}

void check_ranked(const ordered_json& list, double step_time) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    CHECK(number(list[i], "step_time_s") + number(list[i], "saved_s") == Approx(step_time));
    CHECK(number(list[i], "saved_share") == Approx(number(list[i], "saved_s") / step_time));
    CHECK_FALSE(list[i].at("sentence").get<std::string>().empty());
    if (i > 0) CHECK(number(list[i], "saved_s") <= number(list[i - 1], "saved_s"));
  }
}

}  // namespace

TEST_CASE("an explanation has free clocks and faster resources, ranked") {
  const ordered_json json = stepsim_json(two_nodes);
  const double step_time = number(json, "step_time_s");
  CHECK(json.at("schema") == "stepsim.explanation/1");
  double path = 0;
  for (const ordered_json& part : json.at("critical_path")) path += number(part, "time_s");
  CHECK(path == Approx(step_time).epsilon(1e-9));
  REQUIRE(json.at("free_clocks").size() == 4);
  check_ranked(json.at("free_clocks"), step_time);
  check_ranked(json.at("faster_resources"), step_time);
  std::set<std::string> resources;
  for (const ordered_json& entry : json.at("faster_resources"))
    resources.insert(entry.at("resource").get<std::string>());
  CHECK(resources == std::set<std::string>{"SMs", "memory", "host", "network ports"});
}

TEST_CASE(
    "a free clock saves no more than all else takes, and a tenth faster no more than a tenth") {
  const ordered_json json = stepsim_json(two_nodes + " --set software.interference=false");
  const double step_time = number(json, "step_time_s");
  for (const ordered_json& entry : json.at("free_clocks")) {
    const double saved = number(entry, "saved_s");
    CHECK(saved >= 0);
    CHECK(saved < step_time);
    // What the clock has on the critical path is the most that can be won along that path.
    const std::string key = entry.at("clock").get<std::string>() + "_s";
    CHECK(saved <= json.at("clocks").at(key).get<double>() * 1.0001);
  }
  for (const ordered_json& entry : json.at("faster_resources")) {
    CHECK(number(entry, "saved_s") >= 0);
    CHECK(number(entry, "saved_share") <= 1 - 1 / 1.1 + 1e-6);
  }
}

TEST_CASE("what bounds a step is what changes it") {
  // Ports at a hundredth of their rate: nothing else matters.
  const ordered_json json = stepsim_json(two_nodes + " --set 'cluster.fabric.nic=4 Gb/s'");
  CHECK(json.at("free_clocks").front().at("clock") == "communication");
  CHECK(json.at("faster_resources").front().at("resource") == "network ports");
  CHECK(number(json.at("faster_resources").front(), "saved_share") > 0.05);
  CHECK(number(about(json.at("faster_resources"), "resource", "host"), "saved_share") < 0.01);
}

TEST_CASE("an explanation is the same for any number of threads, in every format") {
  ordered_json one = stepsim_json(two_nodes + " --jobs 1");
  ordered_json three = stepsim_json(two_nodes + " --jobs 3");
  one.erase("simulation");
  three.erase("simulation");
  CHECK(one.dump() == three.dump());
  const Outcome text = run_stepsim(two_nodes);
  CHECK(text.exit_code == 0);
  CHECK(contains(text.out, "Critical path  what"));
  CHECK(contains(text.out, "What if  one clock"));
  CHECK(contains(text.out, "Sensitivity  one resource"));
  for (const std::string& line : lines_of(text.out)) CHECK(line.size() < 160);
  CHECK(contains(run_stepsim(two_nodes + " --format md").out, "| free clock |"));
  CHECK(contains(run_stepsim(two_nodes + " --format csv").out,
                 "change,what,step,saved,share,in_words"));
}

TEST_CASE("an explanation says that the plan does not fit, and what slow parts add") {
  const Outcome outcome = run_stepsim("explain " + example +
                                      " --set training.micro_batch=8 "
                                      "--set training.global_batch=512 "
                                      "--set 'cluster.slow=[{rank: 17, compute_time: 1.3}]'");
  CHECK(outcome.exit_code == 0);
  CHECK(contains(outcome.out, "does not fit"));
  CHECK(contains(outcome.out, "of which slow rank 17 "));
}
