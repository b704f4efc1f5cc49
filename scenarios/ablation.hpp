#pragma once

/// What predictions are without one of the mechanisms that they are made of.

#include "scenarios/scenario.hpp"

#include <string>
#include <vector>

namespace stepsim::scenarios {

struct Mechanism {
  std::string name;         // as `--without` takes it
  std::string description;  // what is left out
  void (*leave_out)(Scenario& scenario);
};

const std::vector<Mechanism>& mechanisms();

/// Throws InputError naming the nearest mechanism when there is none of that name.
void check_mechanism(const std::string& name);
void leave_out(const std::string& name, Scenario& scenario);

}  // namespace stepsim::scenarios
