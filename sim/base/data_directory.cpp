#include "sim/base/data_directory.hpp"

#include "sim/base/error.hpp"

#include <algorithm>

namespace stepsim {

namespace {

bool holds_data(const std::filesystem::path& root) {
  std::error_code ignored;
  return std::filesystem::is_directory(root / "topology" / "devices", ignored) &&
         std::filesystem::is_directory(root / "topology" / "nodes", ignored);
}

}  // namespace

DataDirectory DataDirectory::find() {
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
  std::vector<std::filesystem::path> places;
  if (!error) places.push_back(executable.parent_path().parent_path() / "share" / "stepsim");
  places.emplace_back(STEPSIM_SOURCE_DIRECTORY);
  for (const std::filesystem::path& place : places) {
    if (holds_data(place)) return DataDirectory(place);
  }
  std::string tried;
  for (const std::filesystem::path& place : places) {
    tried += (tried.empty() ? "" : " or ") + place.string();
  }
  throw InputError(
      Diagnostic{{}, "", "cannot find the data files of stepsim", "them in " + tried, ""});
}

std::filesystem::path DataDirectory::file(const std::string& folder,
                                          const std::string& name) const {
  return root_ / folder / name;
}

std::vector<std::string> DataDirectory::names(const std::string& folder,
                                              const std::string& extension) const {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(root_ / folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    if (path.extension() == extension) names.push_back(path.stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace stepsim
