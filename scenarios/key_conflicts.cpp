#include "scenarios/key_conflicts.hpp"

#include <utility>

namespace stepsim::scenarios {

ValueSite KeyProblems::site(const std::string& path) const {
  const DocumentNode* node = &root_;
  std::size_t start = 0;
  while (start <= path.size()) {
    const std::size_t end = std::min(path.find('.', start), path.size());
    const DocumentNode* child = node->find(std::string_view(path).substr(start, end - start));
    if (child == nullptr) break;
    node = child;
    start = end + 1;
  }
  return {*node, path, diagnostics_};
}

void KeyProblems::refuse(const std::string& path, std::string problem, std::string expected,
                         std::string suggestion) {
  site(path).refuse(std::move(problem), std::move(expected), std::move(suggestion));
}

void KeyProblems::adopt(const std::string& path, const InputError& error) {
  for (Diagnostic diagnostic : error.diagnostics()) {
    if (diagnostic.where.line == 0) {
      const std::string file = diagnostic.where.file;
      if (!file.empty()) diagnostic.problem = file + ": " + diagnostic.problem;
      diagnostic.where = site(path).node.where();
      diagnostic.path = path;
    }
    diagnostics_.add(std::move(diagnostic));
  }
}

}  // namespace stepsim::scenarios
