#include "scenarios/value_format.hpp"

#include "sim/base/message_text.hpp"
#include "sim/base/parse_quantity.hpp"

#include <algorithm>
#include <limits>

namespace stepsim::scenarios {

namespace {

// Digits and points: what NCCL prints as its version.
bool is_version(const std::string& text) {
  constexpr std::size_t longest = 20;
  bool after_digit = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && !(c == '.' && after_digit)) return false;
    after_digit = digit;
  }
  return after_digit && text.size() <= longest && text.find('.') != std::string::npos;
}

constexpr const char* version_pattern = "^[0-9]+(\\.[0-9]+)+$";

Json quantity_schema(const std::string& pattern) {
  return {{"type", "string"}, {"pattern", pattern}};
}

}  // namespace

void refuse_later(ObjectReader& reader, const std::string& key) {
  reader.refuse(key, not_supported_yet);
}

void read_degree_of_one(ObjectReader& reader, const std::string& key) {
  const DocumentNode& value = *reader.node().find(key);
  std::int64_t degree = 1;
  if (!read_value(reader.site(key, value), Integer{.least = 1}, degree)) {
    reader.mark_unreadable();
  } else if (degree != 1) {
    reader.refuse(key, "is " + value.text + ", and above 1 it " + not_supported_yet, "1");
  }
}

bool refuse_later_word(const ValueSite& site, const std::vector<std::string>& words,
                       const std::vector<std::string>& later) {
  if (!site.node.is_scalar()) return false;
  if (std::find(later.begin(), later.end(), site.node.text) == later.end()) return false;
  site.refuse(in_quotes(site.node.text) + ' ' + not_supported_yet, one_of(words));
  return true;
}

bool read_value(const ValueSite& site, const Reference& format, DocumentNode& value) {
  if (!site.node.is_scalar() && !site.node.is_map()) {
    return site.refuse("is " + site.node.describe(), format.what);
  }
  value = site.node;
  return true;
}

bool read_value(const ValueSite& site, const FlagNotYetSize& /*format*/, bool& value) {
  if (site.node.is_scalar() && !site.node.quoted && parse_integer(site.node.text).value) {
    return site.refuse("is " + site.node.text + ", and a group size " + not_supported_yet,
                       "true or false");
  }
  return read_value(site, Flag{}, value);
}

bool read_value(const ValueSite& site, const Version& /*format*/, std::string& value) {
  std::string text;
  if (!read_value(site, Text{}, text)) return false;
  if (!is_version(text))
    return site.refuse("is " + in_quotes(text), "a version such as \"2.27.7\"");
  value = text;
  return true;
}

bool read_value(const ValueSite& site, const Counts& format, std::int64_t& item) {
  return read_value(site, Integer{format.least, format.most}, item);
}

Json schema_of(const Text& /*format*/) { return {{"type", "string"}, {"minLength", 1}}; }

Json schema_of(const Flag& /*format*/) { return {{"type", "boolean"}}; }

Json schema_of(const Integer& format) {
  Json schema = {{"type", "integer"}};
  if (format.least > std::numeric_limits<std::int64_t>::min()) schema["minimum"] = format.least;
  if (format.most < std::numeric_limits<std::int64_t>::max()) schema["maximum"] = format.most;
  return schema;
}

Json schema_of(const Number& format) {
  Json schema = {{"type", "number"}};
  if (format.least > std::numeric_limits<double>::lowest()) schema["minimum"] = format.least;
  if (format.most < std::numeric_limits<double>::max()) schema["maximum"] = format.most;
  return schema;
}

Json schema_of(const Duration& /*format*/) { return quantity_schema(time_pattern()); }
Json schema_of(const ByteCount& /*format*/) { return quantity_schema(bytes_pattern()); }
Json schema_of(const DataRate& /*format*/) { return quantity_schema(bandwidth_pattern()); }
Json schema_of(const ArithmeticRate& /*format*/) { return quantity_schema(flop_rate_pattern()); }
Json schema_of(const Reference& format) { return format.schema; }
Json schema_of(const FlagNotYetSize& /*format*/) { return schema_of(Flag{}); }

Json schema_of(const Version& /*format*/) {
  return {{"type", "string"}, {"pattern", version_pattern}};
}

Json schema_of(const Counts& format) {
  return {{"type", "array"}, {"items", schema_of(Integer{format.least, format.most})}};
}

DocumentNode to_node(const Text& /*format*/, const std::string& value) {
  return quoted_scalar(value);
}
DocumentNode to_node(const Flag& /*format*/, bool value) {
  return plain_scalar(value ? "true" : "false");
}
DocumentNode to_node(const Integer& /*format*/, std::int64_t value) {
  return plain_scalar(std::to_string(value));
}
DocumentNode to_node(const Number& /*format*/, double value) {
  return plain_scalar(format_number(value));
}
DocumentNode to_node(const Duration& /*format*/, Time value) {
  return plain_scalar(format_time(value));
}
DocumentNode to_node(const ByteCount& /*format*/, Bytes value) {
  return plain_scalar(format_bytes(value));
}
DocumentNode to_node(const DataRate& /*format*/, Bandwidth value) {
  return plain_scalar(format_bandwidth(value));
}
DocumentNode to_node(const ArithmeticRate& /*format*/, FlopRate value) {
  return plain_scalar(format_flop_rate(value));
}
DocumentNode to_node(const Reference& /*format*/, const DocumentNode& value) { return value; }
DocumentNode to_node(const FlagNotYetSize& /*format*/, bool value) {
  return to_node(Flag{}, value);
}
DocumentNode to_node(const Version& /*format*/, const std::string& value) {
  return quoted_scalar(value);
}

DocumentNode to_node(const Counts& format, const std::vector<std::int64_t>& value) {
  DocumentNode list;
  list.kind = NodeKind::list;
  for (const std::int64_t item : value)
    list.items.push_back(to_node(Integer{format.least, format.most}, item));
  return list;
}

Json json_of(const DocumentNode& node) {
  if (node.is_scalar() && !node.quoted) {
    if (node.text == "true" || node.text == "false") return node.text == "true";
    if (const auto whole = parse_integer(node.text).value) return *whole;
    if (const auto number = parse_number(node.text).value) return *number;
  }
  if (node.is_scalar()) return node.text;
  Json json = node.is_list() ? Json::array() : Json(nullptr);
  for (const DocumentNode& item : node.items) json.push_back(json_of(item));
  for (const DocumentEntry& entry : node.entries) json[entry.key] = json_of(entry.value);
  return json;
}

}  // namespace stepsim::scenarios
