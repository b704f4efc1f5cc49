#include "topology/collective_calibration.hpp"

#include "sim/base/document.hpp"
#include "sim/base/object_reader.hpp"

#include <algorithm>
#include <bit>

namespace stepsim::topology {

namespace {

const Choices<Collective>& collective_words() {
  static const Choices<Collective> words = {
      {"all_reduce", Collective::all_reduce},         {"all_gather", Collective::all_gather},
      {"reduce_scatter", Collective::reduce_scatter}, {"broadcast", Collective::broadcast},
      {"all_to_all", Collective::all_to_all},         {"send_receive", Collective::send_receive}};
  return words;
}

void check_sizes(ObjectReader& reader, const CalibrationCurve& curve) {
  if (curve.sizes.empty() || curve.sizes.size() != curve.factors.size()) {
    reader.refuse("factors", "there are as many factors as sizes, and at least one of each");
    return;
  }
  if (curve.sizes.front() < Bytes(1) ||
      std::adjacent_find(curve.sizes.begin(), curve.sizes.end(), std::greater_equal<>()) !=
          curve.sizes.end()) {
    reader.refuse("sizes", "do not grow", "positive sizes in ascending order");
  }
}

CalibrationCurve read_curve(const ValueSite& site) {
  CalibrationCurve curve;
  ObjectReader reader(site.node, site.path, site.diagnostics);
  const Number factor{.least = 0.01, .most = 100};
  reader.required("collective", curve.collective, collective_words());
  reader.required("scale", curve.scale, Integer{.least = 1, .most = 1'000'000});
  reader.required("algorithm", curve.algorithm);
  reader.required("protocol", curve.protocol);
  reader.optional("tables", curve.tables);
  reader.required("sizes", curve.sizes);
  reader.required("factors", curve.factors, factor);
  reader.optional("beyond", curve.beyond, factor);
  reader.finish();
  if (reader.ok()) check_sizes(reader, curve);
  return curve;
}

CalibrationSystem read_system(const ValueSite& site) {
  CalibrationSystem system;
  ObjectReader reader(site.node, site.path, site.diagnostics);
  reader.required("devices", system.devices);
  reader.optional("nodes", system.nodes);
  reader.required("several_nodes", system.several_nodes);
  read_source(reader, system.source);
  const DocumentNode* curves = reader.take_required("curves");
  reader.finish();
  if (curves == nullptr) return system;
  if (!curves->is_list()) {
    reader.refuse("curves", "is " + curves->describe(), "a list");
    return system;
  }
  for (std::size_t i = 0; i < curves->items.size(); ++i) {
    const std::string path = reader.path_of("curves") + '[' + std::to_string(i) + ']';
    system.curves.push_back(read_curve({curves->items[i], path, site.diagnostics}));
  }
  return system;
}

/// log2 with the mantissa as the fraction: exact at powers of two, straight in between, and the
/// same on every machine.
double piecewise_log2(Bytes bytes) {
  const auto count = static_cast<std::uint64_t>(bytes.count());
  const int exponent = static_cast<int>(std::bit_width(count)) - 1;
  const double floor = static_cast<double>(std::bit_floor(count));
  return exponent + (static_cast<double>(count) - floor) / floor;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_gather_or_scatter(Collective collective) {
  return collective == Collective::all_gather || collective == Collective::reduce_scatter;
}

}  // namespace

double factor_at(const CalibrationCurve& curve, Bytes bytes) {
  if (bytes <= curve.sizes.front()) return curve.factors.front();
  if (bytes >= curve.sizes.back()) return curve.factors.back();
  const auto above = std::upper_bound(curve.sizes.begin(), curve.sizes.end(), bytes);
  const auto index = static_cast<std::size_t>(above - curve.sizes.begin());
  const double lower = piecewise_log2(curve.sizes[index - 1]);
  const double upper = piecewise_log2(curve.sizes[index]);
  const double part = (piecewise_log2(bytes) - lower) / (upper - lower);
  return curve.factors[index - 1] + part * (curve.factors[index] - curve.factors[index - 1]);
}

Calibration load_calibration(const DataDirectory& data) {
  const Document document = read_document(data.file("topology/nccl", "calibration.yaml").string());
  Calibration calibration;
  calibration.file = document.file;
  calibration.hash = document.hash;
  Diagnostics problems;
  ObjectReader reader(document.root, "", problems);
  const DocumentNode* systems = reader.take_required("systems");
  reader.finish();
  if (systems != nullptr && !systems->is_list()) {
    reader.refuse("systems", "is " + systems->describe(), "a list");
  } else if (systems != nullptr) {
    for (std::size_t i = 0; i < systems->items.size(); ++i) {
      calibration.systems.push_back(
          read_system({systems->items[i], "systems[" + std::to_string(i) + ']', problems}));
    }
  }
  problems.throw_if_any();
  return calibration;
}

GroupCalibration::GroupCalibration(const Calibration& calibration, const Node& node,
                                   const std::string& tables, const GroupShape& group)
    : tables_(tables), scale_(group.nodes > 1 ? group.nodes : group.ranks) {
  for (const CalibrationSystem& system : calibration.systems) {
    const bool known = contains(system.devices, node.device.name) &&
                       (system.nodes.empty() || contains(system.nodes, node.name));
    if (known && system.several_nodes == (group.nodes > 1)) systems_.push_back(&system);
  }
}

GroupCalibration::Neighbours GroupCalibration::find_in(const CalibrationSystem& system,
                                                       Collective collective,
                                                       const std::string& algorithm,
                                                       const std::string& protocol) const {
  Neighbours found;
  for (const CalibrationCurve& curve : system.curves) {
    const bool fits = curve.collective == collective && curve.algorithm == algorithm &&
                      curve.protocol == protocol &&
                      (curve.tables.empty() || curve.tables == tables_);
    if (!fits) continue;
    const bool below = curve.scale <= scale_;
    const CalibrationCurve*& nearest = below ? found.lower : found.upper;
    if (nearest == nullptr || (below == (curve.scale > nearest->scale))) nearest = &curve;
  }
  if (found.lower != nullptr && found.upper != nullptr) {
    found.weight_of_upper = static_cast<double>(scale_ - found.lower->scale) /
                            (found.upper->scale - found.lower->scale);
  }
  if (found.lower == nullptr) found.lower = found.upper;
  if (found.upper == nullptr) found.upper = found.lower;
  const bool measured_scale = found.lower != nullptr && found.lower->scale == scale_;
  found.assumed = !measured_scale || system.source.kind == SourceKind::assumed;
  return found;
}

GroupCalibration::Neighbours GroupCalibration::find(Collective collective,
                                                    const std::string& algorithm,
                                                    const std::string& protocol) const {
  for (const CalibrationSystem* system : systems_) {
    const Neighbours found = find_in(*system, collective, algorithm, protocol);
    if (found.lower == nullptr) continue;
    const bool of_this_size = found.lower->scale == scale_ || found.upper->scale == scale_;
    if (collective != Collective::all_reduce || algorithm != "ring" || of_this_size) return found;
    // Where NVLS reduces, nobody measures all-reduces by ring: those that scatter are by the same.
    Neighbours scatter = find_in(*system, Collective::reduce_scatter, algorithm, protocol);
    if (scatter.lower == nullptr || scatter.lower->scale != scale_) return found;
    scatter.assumed = true;
    return scatter;
  }
  if (!is_gather_or_scatter(collective)) return {};
  // Nobody publishes these between nodes: the ring is the same ring.
  Neighbours found = find(Collective::all_reduce, algorithm, protocol);
  found.assumed = true;
  return found;
}

}  // namespace stepsim::topology
