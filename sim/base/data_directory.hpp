#pragma once

/// Where the data files that ship with the product are: beside an installed binary, or in the
/// source tree. Both have the same shape: DIRECTORY/topology/devices/h100-sxm-80gb.yaml, and so on.

#include <filesystem>
#include <string>
#include <vector>

namespace stepsim {

class DataDirectory {
 public:
  explicit DataDirectory(std::filesystem::path root) : root_(std::move(root)) {}
  /// Next to the running executable (../share/stepsim), else the source tree it was built from.
  /// Throws InputError listing the places tried when neither holds data.
  static DataDirectory find();

  const std::filesystem::path& root() const { return root_; }
  /// The path of a file such as file("topology/devices", "h100-sxm-80gb.yaml").
  std::filesystem::path file(const std::string& folder, const std::string& name) const;
  /// Names of the files of a folder with an extension, without it, sorted.
  std::vector<std::string> names(const std::string& folder, const std::string& extension) const;

 private:
  std::filesystem::path root_;
};

}  // namespace stepsim
