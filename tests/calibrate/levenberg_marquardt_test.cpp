#include "calibrate/levenberg_marquardt.hpp"

#include "tests/support/catch.hpp"

#include <cmath>
#include <vector>

using namespace stepsim::calibrate;

namespace {

/// Rows y = slope·x + start, some of them wrong by a factor.
struct Line {
  std::vector<double> x;
  std::vector<double> y;

  Line(double slope, double start, int outliers) {
    for (int i = 1; i <= 60; ++i) {
      x.push_back(i);
      const double wobble = 1 + 0.01 * (i % 3 - 1);
      y.push_back((slope * i + start) * wobble * (i <= outliers ? 100 : 1));
    }
  }

  FitResult fitted(const std::vector<Parameter>& parameters) const {
    const auto residuals = [this](const std::vector<double>& values, Eigen::VectorXd& out) {
      for (std::size_t i = 0; i < x.size(); ++i)
        out[static_cast<Eigen::Index>(i)] = std::log((values[0] * x[i] + values[1]) / y[i]);
    };
    return fit(parameters, residuals, static_cast<Eigen::Index>(x.size()), FitOptions{});
  }
};

const std::vector<Parameter> free_parameters{{"slope", 1, 0, 10, 10}, {"start", 1, 0, 50, 10}};

}  // namespace

TEST_CASE("a fit finds what made the data", "[levenberg_marquardt]") {
  const FitResult result = Line(3, 7, 0).fitted(free_parameters);
  CHECK(result.values[0] == Approx(3).epsilon(0.02));
  CHECK(result.values[1] == Approx(7).epsilon(0.1));
  CHECK(result.ridge.find("slope") != std::string::npos);
}

TEST_CASE("a few measurements off by a hundred do not poison a fit", "[levenberg_marquardt]") {
  const FitResult result = Line(3, 7, 4).fitted(free_parameters);
  CHECK(result.values[0] == Approx(3).epsilon(0.03));
}

TEST_CASE("a parameter stays within its bounds", "[levenberg_marquardt]") {
  const FitResult result = Line(3, 7, 0).fitted({{"slope", 1, 0, 2, 10}, {"start", 1, 0, 50, 10}});
  CHECK(result.values[0] <= 2);
  CHECK(result.values[0] > 1.9);
}

TEST_CASE("where the data say nothing the prior stands", "[levenberg_marquardt]") {
  const Line line(3, 7, 0);
  const auto residuals = [&line](const std::vector<double>& values, Eigen::VectorXd& out) {
    for (std::size_t i = 0; i < line.x.size(); ++i)
      out[static_cast<Eigen::Index>(i)] = std::log((values[0] * line.x[i] + 7) / line.y[i]);
  };
  const FitResult result =
      fit({{"slope", 1, 0, 10, 10}, {"silent", 2.5, 0, 10, 0.2}}, residuals, 60, FitOptions{});
  CHECK(result.values[1] == Approx(2.5).epsilon(0.01));
}

TEST_CASE("the same data give the same fit to the bit", "[levenberg_marquardt]") {
  CHECK(Line(3, 7, 2).fitted(free_parameters).values ==
        Line(3, 7, 2).fitted(free_parameters).values);
}
