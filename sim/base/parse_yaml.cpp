#include "sim/base/document_builder.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>

namespace stepsim {

namespace {

/// yaml-cpp's events, with its marks (which count bytes from 0) made positions. Its node classes
/// are not used: they accept duplicate keys and guess types.
class YamlEvents : public YAML::EventHandler {
 public:
  YamlEvents(TextPositions& positions, DocumentBuilder& builder)
      : positions_(positions), builder_(builder) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (builder_.complete()) {
      builder_.fail(position(mark), "is a second document", "one document in a file");
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    remember(anchor, builder_.missing_value(position(mark)));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    builder_.alias(anchor, position(mark));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    if (tag == quoted_tag) last_quoted_ = mark;
    remember(anchor, builder_.scalar(value, tag == quoted_tag, position(mark)));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    check_tag(mark, tag);
    remember(anchor, builder_.begin(NodeKind::list, position(mark)));
  }
  void OnSequenceEnd() override { builder_.end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    check_tag(mark, tag);
    remember(anchor, builder_.begin(NodeKind::map, position(mark)));
  }
  void OnMapEnd() override { builder_.end(); }

  /// Where the last value that is not plain begins: the only one that may lack its closing quote.
  const std::optional<YAML::Mark>& last_quoted() const { return last_quoted_; }

 private:
  static constexpr const char* quoted_tag = "!";  // what yaml-cpp gives a scalar that is not plain
  static constexpr const char* plain_tag = "?";

  TextPositions::Position position(const YAML::Mark& mark) {
    return positions_.at_line(static_cast<std::size_t>(mark.line),
                              static_cast<std::size_t>(mark.column));
  }
  void remember(YAML::anchor_t anchor, NodeNumber node) {
    if (anchor != YAML::NullAnchor) builder_.anchor(anchor, node);
  }
  void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == quoted_tag || tag == plain_tag) return;
    builder_.report(position(mark), "has a YAML tag, which is not supported", "a plain value");
  }

  TextPositions& positions_;
  DocumentBuilder& builder_;
  std::optional<YAML::Mark> last_quoted_;
};

// yaml-cpp takes the end of the text for the quote that is missing.
void check_closed(const YAML::Mark& begin, TextPositions& positions, std::string_view text,
                  const DocumentBuilder& builder) {
  const auto line = static_cast<std::size_t>(begin.line);
  const auto column = static_cast<std::size_t>(begin.column);
  const auto line_start = static_cast<std::size_t>(positions.line_text(line).data() - text.data());
  std::string_view rest = text.substr(line_start + column);
  const char quote = rest.empty() ? '\0' : rest.front();
  if (quote != '"' && quote != '\'') return;  // a block scalar ends where its indentation does
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] == '\\' && quote == '"') {
      ++at;
    } else if (rest[at] == quote) {
      const bool doubled = quote == '\'' && at + 1 < rest.size() && rest[at + 1] == quote;
      if (!doubled) return;
      ++at;
    }
  }
  builder.fail(positions.at_line(line, column), "is a quoted text without its closing quote");
}

[[noreturn]] void fail(const YAML::Exception& error, TextPositions& positions,
                       const DocumentBuilder& builder) {
  const auto line = static_cast<std::size_t>(std::max(error.mark.line, 0));
  const auto column = static_cast<std::size_t>(std::max(error.mark.column, 0));
  const std::string_view text = positions.line_text(line);
  const std::size_t tab = text.find('\t');
  if (tab != std::string_view::npos && tab <= text.find_first_not_of(" \t")) {
    builder.fail(positions.at_line(line, tab), "is a tab in the indentation", "spaces");
  }
  const bool unclosed = error.msg == YAML::ErrorMsg::EOF_IN_SCALAR;
  builder.fail(positions.at_line(line, column),
               unclosed ? "ends within a quoted text: its closing quote is missing"
                        : "is not valid YAML: " + error.msg);
}

// A flow list may turn out to be a key at its very end, so that yaml-cpp keeps all of its tokens:
// their number is limited before it begins.
void check_flow_tokens(std::string_view text, TextPositions& positions,
                       const DocumentOptions& options, const DocumentBuilder& builder) {
  constexpr std::string_view flow_indicators = "[{,";
  std::size_t tokens = 0;
  for (std::size_t at = text.find_first_of(flow_indicators); at != std::string_view::npos;
       at = text.find_first_of(flow_indicators, at + 1)) {
    if (++tokens <= options.most_nodes) continue;
    builder.fail(positions.at_byte(at), "is one bracket or comma too many",
                 "at most " + std::to_string(options.most_nodes));
  }
}

}  // namespace

void parse_yaml(std::string_view text, TextPositions& positions, const DocumentOptions& options,
                DocumentBuilder& builder) {
  check_flow_tokens(text, positions, options, builder);
  std::istringstream stream{std::string(text)};
  YamlEvents events(positions, builder);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(events)) {
    }
    if (events.last_quoted()) check_closed(*events.last_quoted(), positions, text, builder);
  } catch (const YAML::Exception& error) {
    fail(error, positions, builder);
  }
}

}  // namespace stepsim
