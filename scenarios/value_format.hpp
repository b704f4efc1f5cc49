#pragma once

/// What single values of a scenario file may be: each format is read (read_value, here or in
/// sim/base/object_reader.hpp), described as JSON Schema (schema_of) and written (to_node).

#include "sim/base/document_writer.hpp"
#include "sim/base/object_reader.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace stepsim::scenarios {

using Json = nlohmann::ordered_json;

/// Words that stand for values, and words of the format that this version does not know yet.
template <class Value>
struct Words {
  Choices<Value> choices;
  std::vector<std::string> later;
};

/// A value that is read as it is, for somebody else to resolve: a name, a path, or a block.
struct Reference {
  std::string what;  // «a node type, …»: what is expected
  Json schema;       // of its forms
};

/// true or false; a whole number, which the format also has, is not supported yet.
struct FlagNotYetSize {};

/// Digits and points: «2.27.7».
struct Version {};

/// A list of whole numbers, each within the limits.
struct Counts {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

constexpr const char* not_supported_yet = "is not supported by this version yet";

void refuse_later(ObjectReader& reader, const std::string& key);
void read_degree_of_one(ObjectReader& reader, const std::string& key);

/// True, after reporting it, when the value is one of the words for later.
bool refuse_later_word(const ValueSite& site, const std::vector<std::string>& words,
                       const std::vector<std::string>& later);

template <class Value>
bool read_value(const ValueSite& site, const Words<Value>& format, Value& value) {
  std::vector<std::string> words;
  for (const auto& choice : format.choices) words.push_back(choice.first);
  if (refuse_later_word(site, words, format.later)) return false;
  return read_value(site, format.choices, value);
}
bool read_value(const ValueSite& site, const Reference& format, DocumentNode& value);
bool read_value(const ValueSite& site, const FlagNotYetSize& format, bool& value);
bool read_value(const ValueSite& site, const Version& format, std::string& value);
bool read_value(const ValueSite& site, const Counts& format, std::int64_t& item);

Json schema_of(const Text& format);
Json schema_of(const Flag& format);
Json schema_of(const Integer& format);
Json schema_of(const Number& format);
Json schema_of(const Duration& format);
Json schema_of(const ByteCount& format);
Json schema_of(const DataRate& format);
Json schema_of(const ArithmeticRate& format);
Json schema_of(const Reference& format);
Json schema_of(const FlagNotYetSize& format);
Json schema_of(const Version& format);
Json schema_of(const Counts& format);
template <class Value>
Json schema_of(const Words<Value>& format) {
  Json words = Json::array();
  for (const auto& choice : format.choices) words.push_back(choice.first);
  return {{"enum", words}};
}

DocumentNode to_node(const Text& format, const std::string& value);
DocumentNode to_node(const Flag& format, bool value);
DocumentNode to_node(const Integer& format, std::int64_t value);
DocumentNode to_node(const Number& format, double value);
DocumentNode to_node(const Duration& format, Time value);
DocumentNode to_node(const ByteCount& format, Bytes value);
DocumentNode to_node(const DataRate& format, Bandwidth value);
DocumentNode to_node(const ArithmeticRate& format, FlopRate value);
DocumentNode to_node(const Reference& format, const DocumentNode& value);
DocumentNode to_node(const FlagNotYetSize& format, bool value);
DocumentNode to_node(const Version& format, const std::string& value);
DocumentNode to_node(const Counts& format, const std::vector<std::int64_t>& value);
template <class Value>
DocumentNode to_node(const Words<Value>& format, const Value& value) {
  for (const auto& choice : format.choices) {
    if (choice.second == value) return plain_scalar(choice.first);
  }
  throw InternalError("a value has no word");
}

/// The value as JSON: plain numbers and booleans as such, everything else as text.
Json json_of(const DocumentNode& node);

}  // namespace stepsim::scenarios
