#include "scenarios/profile_use.hpp"

#include <filesystem>
#include <string>

namespace stepsim::scenarios {

namespace {

std::string shown(const DataDirectory& data, const std::string& file) {
  const std::filesystem::path relative =
      std::filesystem::path(file).lexically_relative(data.root());
  const bool ours = !relative.empty() && *relative.begin() != "..";
  return ours ? relative.generic_string() : file;
}

}  // namespace

ProfileUse model_use(const DataDirectory& data, const workloads::Model& model) {
  return {"model", model.name, shown(data, model.source), model.hash};
}

ProfileUse device_use(const DataDirectory& data, const topology::Device& device) {
  return {"device", device.name, shown(data, device.file), device.hash};
}

ProfileUse node_use(const DataDirectory& data, const topology::Node& node) {
  return {"node", node.name, shown(data, node.file), node.hash};
}

void add_kernels_use(std::vector<ProfileUse>& uses, const DataDirectory& data,
                     const workloads::KernelProfile& profile) {
  if (profile.file.empty()) return;
  uses.push_back({"kernels", profile.device, shown(data, profile.file), profile.hash});
}

ProfileUse steps_use(const DataDirectory& data, const workloads::StepCoefficientFile& file,
                     const std::string& stack) {
  return {"steps", stack, shown(data, file.file), file.hash};
}

void add_nccl_uses(std::vector<ProfileUse>& uses, const DataDirectory& data,
                   const topology::CollectiveModel& model) {
  for (const topology::CollectiveModel::DataFile& file : model.data_files()) {
    const std::string name = std::filesystem::path(file.file).stem().string();
    uses.push_back({"nccl", name, shown(data, file.file), file.hash});
  }
}

}  // namespace stepsim::scenarios
