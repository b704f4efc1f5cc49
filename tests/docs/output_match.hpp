#pragma once

/// Does what a command printed match what a document shows? Text is compared exactly; «…» stands
/// for any text within its line, and a line that is only «…» for any number of lines.

#include <string>
#include <vector>

namespace stepsim::docs {

bool line_matches(const std::string& shown, const std::string& printed);
bool output_matches(const std::vector<std::string>& shown, const std::vector<std::string>& printed);

/// What the document should show instead: the printed lines, but those that a shown line with «…»
/// in it still matches stay as they are shown. Lines that are only «…» are lost.
std::vector<std::string> updated_output(const std::vector<std::string>& shown,
                                        const std::vector<std::string>& printed);

}  // namespace stepsim::docs
