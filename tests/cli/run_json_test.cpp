#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <cstdint>
#include <map>

using namespace stepsim::test;
using nlohmann::ordered_json;

namespace {

double sum_of(const ordered_json& block, std::initializer_list<const char*> keys) {
  double sum = 0;
  for (const char* key : keys) sum += block.at(key).get<double>();
  return sum;
}

void check_sums(const ordered_json& result) {
  const double step = result.at("step_time_s");
  const double rounding = step * 1e-15 * 8;
  const auto& clocks = result.at("clocks");
  CHECK(clocks.size() == 4);
  CHECK(std::abs(sum_of(clocks, {"compute_s", "memory_s", "communication_s", "overhead_s"}) -
                 step) <= rounding);
  const auto& line = result.at("timeline");
  CHECK(std::abs(sum_of(line, {"compute_s", "bubble_s", "exposed_s", "idle_s"}) - step) <=
        rounding);
  double exposed = 0;
  for (const auto& group : result.at("communication")) {
    exposed += group.at("exposed_s").get<double>();
    CHECK(group.at("busy_s").get<double>() >= 0);
  }
  CHECK(std::abs(exposed - result.at("exposed_communication_s").get<double>()) <= rounding);
  CHECK(line.at("exposed_s") == result.at("exposed_communication_s"));
}

void check_memory(const ordered_json& memory) {
  std::int64_t parts = 0;
  for (const auto& [kind, bytes] : memory.at("breakdown").items()) {
    CAPTURE(kind);
    CHECK(bytes.get<std::int64_t>() >= 0);
    parts += bytes.get<std::int64_t>();
  }
  CHECK(parts == memory.at("peak_allocated_bytes"));
  CHECK(memory.at("peak_reserved_bytes") >= memory.at("peak_allocated_bytes"));
  const auto used = memory.at("peak_reserved_bytes").get<std::int64_t>() +
                    memory.at("outside_bytes").get<std::int64_t>();
  CHECK(memory.at("fits") == (used <= memory.at("capacity_bytes").get<std::int64_t>()));
  CHECK_FALSE(memory.at("stages").empty());
}

std::int64_t picoseconds(double seconds) { return std::llround(seconds * 1e12); }

// What two equal runs may differ in.
ordered_json without_run_details(ordered_json result) {
  result.erase("simulation");
  result.at("provenance").erase("build");
  return result;
}

}  // namespace

TEST_CASE("the JSON result has the documented keys, in their order") {
  const ordered_json result = stepsim_json("run " + example);
  std::vector<std::string> keys;
  for (const auto& entry : result.items()) keys.push_back(entry.key());
  CHECK(keys == std::vector<std::string>{"schema",
                                         "scenario",
                                         "provenance",
                                         "step_time_s",
                                         "tokens_per_second",
                                         "tokens_per_second_per_gpu",
                                         "model_flops_per_second_per_gpu",
                                         "mfu",
                                         "hfu",
                                         "flops_convention",
                                         "peak_flops_per_second",
                                         "uncertainty",
                                         "exposed_communication_s",
                                         "communication",
                                         "clocks",
                                         "critical_path",
                                         "clocks_added",
                                         "timeline",
                                         "busy",
                                         "memory",
                                         "simulation"});
  CHECK(result.at("schema") == "stepsim.result/1");
  for (const char* key : {"version", "build", "profiles", "assumptions", "seed"}) {
    CHECK(result.at("provenance").contains(key));
  }
  for (const char* key : {"compute_s", "communication_s", "overlapped_s"}) {
    CHECK(result.at("busy").contains(key));
  }
  for (const char* key : {"ranks", "classes", "ops", "wall_s", "threads"}) {
    CHECK(result.at("simulation").contains(key));
  }
  for (const char* key : {"step_time_s", "level", "basis"}) {
    CHECK(result.at("uncertainty").contains(key));
  }
}

TEST_CASE("every profile is named with its file and hash") {
  const ordered_json result = stepsim_json("run " + example);
  std::vector<std::string> kinds;
  for (const auto& profile : result.at("provenance").at("profiles")) {
    kinds.push_back(profile.at("kind"));
    CHECK_FALSE(profile.at("name").get<std::string>().empty());
    CHECK_FALSE(profile.at("hash").get<std::string>().empty());
    CHECK(profile.at("file").get<std::string>().front() != '/');
  }
  for (const char* kind : {"model", "device", "node", "kernels", "nccl"}) {
    CHECK(std::count(kinds.begin(), kinds.end(), kind) >= 1);
  }
}

TEST_CASE("clocks, time line and memory add up, whatever the plan") {
  const std::string change = GENERATE(
      "", "--set plan.reshard_after_forward=false", "--set training.activation_checkpointing=none",
      "--set model=llama3-8b --set cluster.nodes=1 --set plan.shard=8 --set "
      "training.global_batch=24 "
      "--set training.micro_batch=1",
      "--set software.compile=false --set software.attention=flash2");
  CAPTURE(change);
  const ordered_json result = stepsim_json("run " + example + " " + change);
  check_sums(result);
  check_memory(result.at("memory"));
  const double mfu = result.at("mfu");
  CHECK(mfu > 0);
  CHECK(mfu < 1);
  CHECK(result.at("hfu").get<double>() >= mfu * 0.9999);
  CHECK(result.at("hfu").get<double>() <= 1);
  const double gpus = result.at("simulation").at("ranks");
  CHECK(result.at("tokens_per_second_per_gpu").get<double>() * gpus ==
        Approx(result.at("tokens_per_second").get<double>()));
}

TEST_CASE("equal runs print equal results, to the byte but for what may differ") {
  const ordered_json first = stepsim_json("run " + example);
  const ordered_json second = stepsim_json("run " + example);
  CHECK(without_run_details(first).dump() == without_run_details(second).dump());
}

TEST_CASE("the option --json and --format json say the same") {
  const Scratch scratch;
  const std::string file = scratch.path("result.json");
  CHECK(run_stepsim("run " + example + " --json " + file).exit_code == 0);
  const auto written = ordered_json::parse(read_file(file));
  const auto printed = stepsim_json("run " + example);
  CHECK(without_run_details(written).dump() == without_run_details(printed).dump());
}

TEST_CASE("the scenario block of a result is a scenario with the same result") {
  const Scratch scratch;
  const ordered_json first = stepsim_json("run " + example);
  const std::string file = scratch.write("again.json", first.at("scenario").dump());
  const ordered_json second = stepsim_json("run " + file);
  CHECK(second.at("scenario").dump() == first.at("scenario").dump());
  CHECK(second.at("step_time_s") == first.at("step_time_s"));
  CHECK(second.at("memory").dump() == first.at("memory").dump());
}

TEST_CASE("the option --set changes the scenario and the result") {
  const ordered_json one = stepsim_json("run " + example);
  const ordered_json two = stepsim_json("run " + example + " --set training.global_batch=128");
  CHECK(two.at("scenario").at("training").at("global_batch") == 128);
  CHECK(two.at("step_time_s").get<double>() > one.at("step_time_s").get<double>());
}

TEST_CASE("the option --flops changes the convention and nothing but the FLOPs") {
  const ordered_json full = stepsim_json("run " + example);
  const ordered_json causal = stepsim_json("run " + example + " --flops causal-attention");
  CHECK(full.at("flops_convention") == "full-attention");
  CHECK(causal.at("flops_convention") == "causal-attention");
  CHECK(causal.at("mfu").get<double>() < full.at("mfu").get<double>());
  CHECK(causal.at("hfu").get<double>() < full.at("hfu").get<double>());
  CHECK(causal.at("step_time_s") == full.at("step_time_s"));
}

TEST_CASE("a measured step time is compared with") {
  const ordered_json result = stepsim_json(
      "run " + example + " --set 'measured.step_time=10 s' --set 'measured.source=a run'");
  const double step = result.at("step_time_s");
  CHECK(result.at("measured").at("step_time_s") == 10.0);
  CHECK(result.at("measured").at("error").get<double>() == Approx(step / 10 - 1));
}

TEST_CASE("what the critical path consists of sums to each clock, the longest first") {
  for (const std::string& file : example_scenarios()) {
    CAPTURE(file);
    const auto result = stepsim_json("run " + file);
    std::map<std::string, std::int64_t> sums;
    double last = result.at("step_time_s").get<double>();
    for (const auto& part : result.at("critical_path")) {
      const double time = part.at("time_s").get<double>();
      CHECK(time > 0);
      CHECK(time <= last);
      last = time;
      CHECK(part.at("count").get<std::int64_t>() > 0);
      CHECK(part.at("share").get<double>() ==
            Approx(time / result.at("step_time_s").get<double>()).epsilon(1e-9));
      sums[part.at("clock").get<std::string>()] += picoseconds(time);
    }
    for (const char* clock : {"compute", "memory", "communication", "overhead"}) {
      CAPTURE(clock);
      const double whole = result.at("clocks").at(std::string(clock) + "_s").get<double>();
      CHECK(sums[clock] == picoseconds(whole));
    }
  }
}
