#include "workloads/hf_config_reader.hpp"

#include <algorithm>
#include <utility>

namespace stepsim::workloads {

const DocumentNode* HfReader::take(const Names& names) {
  const DocumentNode* found = nullptr;
  for (const std::string& name : names) {
    const DocumentNode* value = reader_.take(name);
    if (value == nullptr) continue;
    taken_.push_back(name);
    if (found == nullptr && !value->is_null()) found = value;
  }
  if (found == nullptr) taken_.push_back(names.front());
  return found;
}

bool HfReader::has(const std::string& name) const { return reader_.has(name); }

bool HfReader::has_taken(const std::string& name) const {
  return std::find(taken_.begin(), taken_.end(), name) != taken_.end();
}

template <class Format, class Value>
bool HfReader::read(const Names& names, const Format& format, Value& value) {
  const DocumentNode* node = take(names);
  if (node == nullptr) return false;
  const auto name = std::find_if(names.begin(), names.end(), [&](const std::string& candidate) {
    return reader_.node().find(candidate) == node;
  });
  if (read_value(reader_.site(*name, *node), format, value)) return true;
  ok_ = false;
  return false;
}

std::int64_t HfReader::required_count(const Names& names, std::int64_t most) {
  std::int64_t value = 0;
  if (!read(names, Integer{1, most}, value) && take(names) == nullptr) {
    refuse(names.front(), "is missing", "a whole number from 1 to " + std::to_string(most));
  }
  return value;
}

std::int64_t HfReader::count(const Names& names, std::int64_t fallback, std::int64_t most) {
  std::int64_t value = fallback;
  read(names, Integer{1, most}, value);
  return value;
}

bool HfReader::flag(const Names& names, bool fallback) {
  bool value = fallback;
  read(names, Flag{}, value);
  return value;
}

double HfReader::number(const Names& names, double fallback) {
  double value = fallback;
  read(names, Number{}, value);
  return value;
}

std::optional<double> HfReader::optional_number(const Names& names) {
  double value = 0;
  if (!read(names, Number{}, value)) return std::nullopt;
  return value;
}

std::string HfReader::word(const Names& names, const std::string& fallback) {
  std::string value = fallback;
  read(names, Text{}, value);
  return value;
}

std::vector<std::string> HfReader::words(const std::string& name) {
  std::vector<std::string> values;
  read({name}, Text{}, values);
  return values;
}

std::vector<std::int64_t> HfReader::integers(const std::string& name) {
  std::vector<std::int64_t> values;
  read({name}, Integer{}, values);
  return values;
}

void HfReader::refuse(const std::string& name, std::string problem, std::string expected,
                      std::string suggestion) {
  ok_ = false;
  reader_.refuse(name, std::move(problem), std::move(expected), std::move(suggestion));
}

void HfReader::refuse_flag(const std::string& name, const std::string& why) {
  if (flag({name}, false)) refuse(name, why, "false");
}

namespace {

/// Switched off: nothing it could have changed.
bool is_off(const DocumentNode& value) {
  if (value.is_null()) return true;
  return value.is_scalar() && (value.text == "false" || value.text == "0" || value.text == "0.0");
}

/// Dropout would add kernels; without any there is nothing to model.
bool is_dropout_of_nothing(const DocumentEntry& entry) {
  const bool dropout = entry.key.find("drop") != std::string::npos;
  return dropout && is_off(entry.value);
}

}  // namespace

void HfReader::finish() {
  for (const DocumentEntry& entry : reader_.node().entries) {
    const bool taken = std::find(taken_.begin(), taken_.end(), entry.key) != taken_.end();
    if (taken || is_irrelevant_key(entry.key) || is_dropout_of_nothing(entry)) continue;
    if (context_.unknown == UnknownKeys::list) {
      if (!is_off(entry.value)) context_.ignored.push_back(path_of(entry.key));
      continue;
    }
    ok_ = false;
    Diagnostic diagnostic{entry.where(), path_of(entry.key), "is not a known key", "",
                          nearest_choice(entry.key, taken_)};
    context_.diagnostics.add(std::move(diagnostic));
  }
}

}  // namespace stepsim::workloads
