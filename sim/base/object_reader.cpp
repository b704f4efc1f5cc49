#include "sim/base/object_reader.hpp"

#include "sim/base/message_text.hpp"

#include <algorithm>
#include <limits>

namespace stepsim {

namespace {

// Scalars only; says what else was found.
bool is_scalar(const ValueSite& site, const std::string& expected) {
  if (site.node.is_scalar()) return true;
  return site.refuse("is " + site.node.describe(), expected);
}

bool is_plain(const ValueSite& site, const std::string& expected) {
  if (!is_scalar(site, expected)) return false;
  if (!site.node.quoted) return true;
  return site.refuse("is the text " + in_quotes(site.node.text), expected + ", without quotes");
}

template <class Value>
bool accept(const ValueSite& site, const ParsedQuantity<Value>& parsed, Value& value) {
  if (!parsed.value) return site.refuse(parsed.problem, parsed.expected, parsed.suggestion);
  value = *parsed.value;
  return true;
}

std::string expected_integer(const Integer& range) {
  const bool below = range.least > std::numeric_limits<std::int64_t>::min();
  const bool above = range.most < std::numeric_limits<std::int64_t>::max();
  std::string text = "a whole number";
  if (below && above) {
    return text + " from " + std::to_string(range.least) + " to " + std::to_string(range.most);
  }
  if (below) return text + " of at least " + std::to_string(range.least);
  if (above) return text + " of at most " + std::to_string(range.most);
  return text;
}

std::string expected_number(const Number& range) {
  const bool below = range.least > std::numeric_limits<double>::lowest();
  const bool above = range.most < std::numeric_limits<double>::max();
  std::string text = "a number";
  if (below && above) {
    return text + " from " + format_number(range.least) + " to " + format_number(range.most);
  }
  if (below) return text + " of at least " + format_number(range.least);
  if (above) return text + " of at most " + format_number(range.most);
  return text;
}

bool read_flag_word(const std::string& word, std::string& suggestion) {
  const std::vector<std::string> yes{"yes", "Yes",  "YES",  "on", "On",
                                     "ON",  "True", "TRUE", "y",  "1"};
  const std::vector<std::string> no{"no",  "No",    "NO",    "off", "Off",
                                    "OFF", "False", "FALSE", "n",   "0"};
  if (std::ranges::count(yes, word) > 0) suggestion = "true";
  if (std::ranges::count(no, word) > 0) suggestion = "false";
  return word == "true" || word == "false";
}

}  // namespace

bool ValueSite::refuse(std::string problem, std::string expected, std::string suggestion) const {
  diagnostics.add(
      {node.where(), path, std::move(problem), std::move(expected), std::move(suggestion)});
  return false;
}

bool read_value(const ValueSite& site, const Text& /*format*/, std::string& value) {
  if (!is_scalar(site, "text")) return false;
  const std::string& text = site.node.text;
  // Other readers of YAML would take these for a number or a boolean, and drop the 0 of 2.20.
  const bool ambiguous = parse_number(text).value || text == "true" || text == "false";
  if (!site.node.quoted && ambiguous) {
    return site.refuse("is " + text, "text; put it in quotes: '" + text + "'");
  }
  if (text.empty()) return site.refuse("is empty", "text");
  value = text;
  return true;
}

bool read_value(const ValueSite& site, const Flag& /*format*/, bool& value) {
  if (!is_plain(site, "true or false")) return false;
  std::string suggestion;
  if (!read_flag_word(site.node.text, suggestion)) {
    return site.refuse("is " + in_quotes(site.node.text), "true or false", suggestion);
  }
  value = site.node.text == "true";
  return true;
}

bool read_value(const ValueSite& site, const Integer& format, std::int64_t& value) {
  const std::string expected = expected_integer(format);
  if (!is_plain(site, expected)) return false;
  ParsedQuantity<std::int64_t> parsed = parse_integer(site.node.text);
  if (!parsed.value) return site.refuse(parsed.problem, expected, parsed.suggestion);
  if (*parsed.value < format.least || *parsed.value > format.most) {
    return site.refuse("is " + site.node.text, expected);
  }
  value = *parsed.value;
  return true;
}

bool read_value(const ValueSite& site, const Integer& format, int& value) {
  std::int64_t wide = value;
  if (!read_value(site, format, wide)) return false;
  const Integer narrow{std::max<std::int64_t>(format.least, std::numeric_limits<int>::min()),
                       std::min<std::int64_t>(format.most, std::numeric_limits<int>::max())};
  if (wide < narrow.least || wide > narrow.most) {
    return site.refuse("is " + site.node.text, expected_integer(narrow));
  }
  value = static_cast<int>(wide);
  return true;
}

bool read_value(const ValueSite& site, const Number& format, double& value) {
  const std::string expected = expected_number(format);
  if (!is_plain(site, expected)) return false;
  const ParsedQuantity<double> parsed = parse_number(site.node.text);
  if (!parsed.value) return site.refuse(parsed.problem, expected, parsed.suggestion);
  if (*parsed.value < format.least || *parsed.value > format.most) {
    return site.refuse("is " + site.node.text, expected);
  }
  value = *parsed.value;
  return true;
}

bool read_value(const ValueSite& site, const Duration& /*format*/, Time& value) {
  return is_scalar(site, "a time such as 3.9 s or 250 us") &&
         accept(site, parse_time(site.node.text), value);
}

bool read_value(const ValueSite& site, const ByteCount& format, Bytes& value) {
  return is_scalar(site, "a number of bytes such as 80 GB or 80 GiB") &&
         accept(site, parse_bytes(site.node.text, format.usual_unit), value);
}

bool read_value(const ValueSite& site, const DataRate& /*format*/, Bandwidth& value) {
  return is_scalar(site, "a rate such as 400 Gb/s or 50 GB/s") &&
         accept(site, parse_bandwidth(site.node.text), value);
}

bool read_value(const ValueSite& site, const ArithmeticRate& /*format*/, FlopRate& value) {
  return is_scalar(site, "a rate of arithmetic such as 989 TFLOP/s") &&
         accept(site, parse_flop_rate(site.node.text), value);
}

bool read_value(const ValueSite& site, const Power& /*format*/, double& value) {
  return is_scalar(site, "a power such as 700 W") &&
         accept(site, parse_power(site.node.text), value);
}

bool read_value(const ValueSite& site, const Frequency& /*format*/, double& value) {
  return is_scalar(site, "a frequency such as 1980 MHz") &&
         accept(site, parse_frequency(site.node.text), value);
}

std::optional<std::size_t> read_word(const ValueSite& site, const std::vector<std::string>& words) {
  const std::string expected = one_of(words);
  if (!is_scalar(site, expected)) return std::nullopt;
  const auto found = std::ranges::find(words, site.node.text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  site.refuse("is " + in_quotes(site.node.text), expected, nearest_choice(site.node.text, words));
  return std::nullopt;
}

ObjectReader::ObjectReader(const DocumentNode& node, std::string path, Diagnostics& diagnostics)
    : node_(node), path_(std::move(path)), diagnostics_(diagnostics), ok_(node.is_map()) {
  if (!ok_)
    ValueSite{node_, path_, diagnostics_}.refuse("is " + node.describe(), "a block of keys");
}

bool ObjectReader::note(bool succeeded) {
  ok_ = ok_ && succeeded;
  return succeeded;
}

std::string ObjectReader::path_of(const std::string& key) const {
  return path_.empty() ? key : path_ + '.' + key;
}

ValueSite ObjectReader::site(const std::string& key, const DocumentNode& value) const {
  return {value, path_of(key), diagnostics_, takes_unsourced_};
}

const DocumentNode* ObjectReader::take(const std::string& key) {
  known_.push_back(key);
  return node_.find(key);
}

const DocumentNode* ObjectReader::take_unlisted(const std::string& key) {
  unlisted_.push_back(key);
  return node_.find(key);
}

const DocumentNode* ObjectReader::take_required(const std::string& key) {
  const DocumentNode* value = take(key);
  if (value != nullptr) return value;
  if (node_.is_map()) {
    diagnostics_.add({node_.where(), path_of(key), "is missing", "", ""});
  }
  note(false);
  return nullptr;
}

void ObjectReader::refuse(const std::string& key, std::string problem, std::string expected,
                          std::string suggestion) {
  const DocumentNode* value = node_.find(key);
  const ValueSite at{value != nullptr ? *value : node_, path_of(key), diagnostics_};
  note(at.refuse(std::move(problem), std::move(expected), std::move(suggestion)));
}

void ObjectReader::finish() {
  if (finished_) return;
  finished_ = true;
  std::vector<std::string> absent;  // what somebody who mistyped a key is likely to have meant
  for (const std::string& key : known_) {
    if (!has(key)) absent.push_back(key);
  }
  for (const DocumentEntry& entry : node_.entries) {
    if (std::ranges::count(known_, entry.key) > 0) continue;
    if (std::ranges::count(unlisted_, entry.key) > 0) continue;
    const std::string nearest = nearest_choice(entry.key, absent);
    const std::string expected = nearest.empty() ? one_of(known_) : std::string{};
    diagnostics_.add(
        {entry.where(), path_of(shown(entry.key)), "is not a known key", expected, nearest});
    note(false);
  }
}

bool read_source(ObjectReader& reader, Source& source) {
  static const Choices<SourceKind> kinds{{"datasheet", SourceKind::datasheet},
                                         {"measured", SourceKind::measured},
                                         {"fitted", SourceKind::fitted},
                                         {"assumed", SourceKind::assumed}};
  const bool kind = reader.required("source", source.kind, kinds);
  const bool note = reader.required("note", source.note);
  return kind && note;
}

}  // namespace stepsim
