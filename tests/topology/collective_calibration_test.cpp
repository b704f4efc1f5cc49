#include "topology/collective_calibration.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_path.hpp"

#include <filesystem>
#include <fstream>

using namespace stepsim;
using namespace stepsim::topology;

namespace {

constexpr std::int64_t mebibyte = 1 << 20;

CalibrationCurve curve_of(int scale, std::vector<double> factors, double beyond = 1) {
  CalibrationCurve curve;
  curve.scale = scale;
  curve.algorithm = "ring";
  curve.protocol = "Simple";
  for (std::size_t i = 0; i < factors.size(); ++i) {
    curve.sizes.push_back(Bytes(mebibyte << (2 * i)));
  }
  curve.factors = std::move(factors);
  curve.beyond = beyond;
  return curve;
}

Calibration calibration_of(std::vector<CalibrationCurve> curves, bool several_nodes = false,
                           SourceKind kind = SourceKind::fitted) {
  CalibrationSystem system;
  system.devices = {"h100"};
  system.several_nodes = several_nodes;
  system.source = {kind, "here"};
  system.curves = std::move(curves);
  return {{system}, "file", "hash"};
}

GroupShape node_group(int ranks) { return {ranks, 1, ranks, 0, 1, 1, 1}; }
GroupShape wide_group(int nodes) { return {8 * nodes, nodes, 8, 8, 1, 1, 1}; }

double line(Bytes bytes) { return 10 + static_cast<double>(bytes.count()) / 1e5; }

Node node_named(const std::string& name) {
  Node node;
  node.name = name;
  node.device.name = "h100";
  return node;
}

GroupCalibration::Factor factor_of(const Calibration& calibration, const GroupShape& group,
                                   Bytes bytes, Collective collective = Collective::all_reduce,
                                   const std::string& node = "some-node") {
  return GroupCalibration(calibration, node_named(node), "2.27.7", group)
      .factor(collective, "ring", "Simple", bytes, line);
}

/// Reads `text` as the calibration file of a data directory of its own.
void load_text(const std::string& text) {
  const auto root = temporary_path("calibration-test");
  std::filesystem::create_directories(root / "topology/nccl");
  std::ofstream(root / "topology/nccl/calibration.yaml") << text;
  load_calibration(DataDirectory(root));
}

}  // namespace

TEST_CASE("a factor is held outside its sizes and straight over the logarithm inside",
          "[calibration]") {
  const CalibrationCurve curve = curve_of(8, {1.0, 2.0, 4.0});
  CHECK(factor_at(curve, Bytes(1)) == 1.0);
  CHECK(factor_at(curve, Bytes(mebibyte)) == 1.0);
  CHECK(factor_at(curve, Bytes(2 * mebibyte)) == 1.5);
  CHECK(factor_at(curve, Bytes(4 * mebibyte)) == 2.0);
  CHECK(factor_at(curve, Bytes(8 * mebibyte)) == 3.0);
  CHECK(factor_at(curve, Bytes(1024 * mebibyte)) == 4.0);
}

TEST_CASE("beyond the largest size, extra time is a multiple of the extra prediction",
          "[calibration]") {
  const Calibration calibration = calibration_of({curve_of(8, {1.0, 1.5}, 1.1)});
  const Bytes last(4 * mebibyte);
  const Bytes here(64 * mebibyte);
  const double time = factor_of(calibration, node_group(8), here).value * line(here);
  CHECK(time == Approx(1.5 * line(last) + 1.1 * (line(here) - line(last))));
}

TEST_CASE("between measured group sizes the factor is drawn straight and assumed",
          "[calibration]") {
  const Calibration calibration = calibration_of({curve_of(4, {1.0}), curve_of(8, {2.0})});
  const auto at = [&](int ranks) {
    return factor_of(calibration, node_group(ranks), Bytes(mebibyte));
  };
  CHECK(at(4).value == 1.0);
  CHECK_FALSE(at(4).assumed);
  CHECK(at(6).value == 1.5);
  CHECK(at(6).assumed);
  CHECK(at(2).value == 1.0);
  CHECK(at(2).assumed);
  CHECK(at(16).value == 2.0);
}

TEST_CASE("a gather between nodes takes the ring's factor of all-reduce, assumed",
          "[calibration]") {
  const Calibration calibration = calibration_of({curve_of(4, {1.3})}, true);
  const auto gather =
      factor_of(calibration, wide_group(4), Bytes(mebibyte), Collective::all_gather);
  CHECK(gather.value == 1.3);
  CHECK(gather.assumed);
  const auto all_to_all =
      factor_of(calibration, wide_group(4), Bytes(mebibyte), Collective::all_to_all);
  CHECK_FALSE(all_to_all.found);
  CHECK(all_to_all.value == 1);
}

TEST_CASE("a ring that nobody measured at this size takes the factor of the scatter there, assumed",
          "[calibration]") {
  CalibrationCurve scatter = curve_of(8, {1.05});
  scatter.collective = Collective::reduce_scatter;
  const Calibration calibration = calibration_of({curve_of(4, {1.4}), scatter});
  CHECK(factor_of(calibration, node_group(8), Bytes(mebibyte)).value == 1.05);
  CHECK(factor_of(calibration, node_group(8), Bytes(mebibyte)).assumed);
  CHECK(factor_of(calibration, node_group(4), Bytes(mebibyte)).value == 1.4);
  CHECK(factor_of(calibration, node_group(6), Bytes(mebibyte)).value == 1.4);
}

TEST_CASE("factors of one node say nothing of several", "[calibration]") {
  const Calibration calibration = calibration_of({curve_of(8, {1.3})});
  CHECK_FALSE(factor_of(calibration, wide_group(8), Bytes(mebibyte)).found);
}

TEST_CASE("the first source that knows a curve counts", "[calibration]") {
  Calibration calibration = calibration_of({curve_of(8, {1.3})});
  calibration.systems.push_back(
      calibration_of({curve_of(8, {1.9})}, false, SourceKind::assumed).systems[0]);
  CHECK(factor_of(calibration, node_group(8), Bytes(mebibyte)).value == 1.3);
  calibration.systems.erase(calibration.systems.begin());
  CHECK(factor_of(calibration, node_group(8), Bytes(mebibyte)).value == 1.9);
  CHECK(factor_of(calibration, node_group(8), Bytes(mebibyte)).assumed);
}

TEST_CASE("factors of one network are for its node types only", "[calibration]") {
  Calibration calibration = calibration_of({curve_of(8, {1.6})}, true);
  calibration.systems[0].nodes = {"slow-cloud"};
  calibration.systems.push_back(calibration_of({curve_of(8, {1.0})}, true).systems[0]);
  const auto on = [&](const std::string& node) {
    return factor_of(calibration, wide_group(8), Bytes(mebibyte), Collective::all_reduce, node)
        .value;
  };
  CHECK(on("slow-cloud") == 1.6);
  CHECK(on("dgx-h100") == 1.0);
}

TEST_CASE("factors go with the tables they were fitted to", "[calibration]") {
  CalibrationCurve other = curve_of(8, {1.3});
  other.tables = "2.30.7";
  CHECK_FALSE(factor_of(calibration_of({other}), node_group(8), Bytes(mebibyte)).found);
  other.tables = "2.27.7";
  CHECK(factor_of(calibration_of({other}), node_group(8), Bytes(mebibyte)).found);
}

TEST_CASE("a calibration file that makes no sense is refused", "[calibration]") {
  const std::string head =
      "systems:\n  - devices: [h100]\n    several_nodes: false\n    source: fitted\n"
      "    note: here\n    curves:\n      - collective: all_reduce\n        scale: 8\n"
      "        algorithm: ring\n        protocol: LL\n";
  const std::string sizes = "        sizes: [1 MiB, 2 MiB]\n";
  CHECK_NOTHROW(load_text(head + sizes + "        factors: [1, 1]\n"));
  CHECK_THROWS_AS(load_text(head + sizes + "        factors: [1]\n"), InputError);
  CHECK_THROWS_AS(load_text(head + sizes + "        factors: [1, -1]\n"), InputError);
  CHECK_THROWS_AS(load_text(head + "        sizes: [2 MiB, 1 MiB]\n        factors: [1, 1]\n"),
                  InputError);
  CHECK_THROWS_AS(load_text("systems: 3\n"), InputError);
  CHECK_THROWS_AS(load_text("system: []\n"), InputError);
}

TEST_CASE("the factors that ship are between a third and six", "[calibration]") {
  const Calibration calibration = load_calibration(DataDirectory(STEPSIM_SOURCE_DIRECTORY));
  CHECK(calibration.systems.size() >= 7);
  for (const CalibrationSystem& system : calibration.systems) {
    CHECK_FALSE(system.source.note.empty());
    for (const CalibrationCurve& curve : system.curves) {
      for (const double factor : curve.factors) {
        INFO(to_string(curve.collective) << " " << curve.scale << " " << curve.algorithm);
        CHECK(factor > 1.0 / 3);
        CHECK(factor < 6);
      }
    }
  }
}
