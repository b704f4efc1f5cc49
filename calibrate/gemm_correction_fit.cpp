#include "calibrate/gemm_correction_fit.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace stepsim::calibrate {

namespace {

using Eigen::Index;
using Eigen::VectorXd;
using workloads::AxisPosition;

/// The eight nodes around a shape, with their shares.
struct Stencil {
  std::array<Index, 8> node{};
  std::array<double, 8> share{};
};

/// Two neighbouring nodes and how strongly they are held together.
struct Bond {
  Index a = 0;
  Index b = 0;
  double weight = 0;
};

class Lattice {
 public:
  Lattice(const CorrectionAxes& axes, const CorrectionOptions& options)
      : axes_(axes), shrinkage_(options.shrinkage), shared_shrinkage_(options.shared_shrinkage) {
    for (std::size_t m = 0; m < axes.m.size(); ++m)
      for (std::size_t n = 0; n < axes.n.size(); ++n)
        for (std::size_t k = 0; k < axes.k.size(); ++k) {
          bond(axes.m, m, node(m, n, k), node(m + 1, n, k), options);
          bond(axes.n, n, node(m, n, k), node(m, n + 1, k), options);
          bond(axes.k, k, node(m, n, k), node(m, n, k + 1), options);
        }
  }

  Index nodes() const {
    return static_cast<Index>(axes_.m.size() * axes_.n.size() * axes_.k.size());
  }
  Index unknowns() const { return nodes() + shared_count(); }

  /// Node values: each node's own part plus what it shares with its rows along m, n and k.
  VectorXd expand(const VectorXd& x) const {
    VectorXd values = x.head(nodes());
    for_each_node([&](Index node, const std::array<Index, 3>& shared) {
      for (const Index s : shared) values[node] += x[s];
    });
    return values;
  }

  /// The transpose of expand.
  VectorXd gather(const VectorXd& values) const {
    VectorXd x = VectorXd::Zero(unknowns());
    x.head(nodes()) = values;
    for_each_node([&](Index node, const std::array<Index, 3>& shared) {
      for (const Index s : shared) x[s] += values[node];
    });
    return x;
  }

  Stencil stencil(const workloads::Gemm& gemm) const {
    const AxisPosition m = workloads::position_on(axes_.m, gemm.m);
    const AxisPosition n = workloads::position_on(axes_.n, gemm.n);
    const AxisPosition k = workloads::position_on(axes_.k, gemm.k);
    Stencil stencil;
    for (std::size_t corner = 0; corner < 8; ++corner) {
      const std::size_t dm = corner >> 2 & 1;
      const std::size_t dn = corner >> 1 & 1;
      const std::size_t dk = corner & 1;
      stencil.node[corner] = node(m.lower + dm, n.lower + dn, k.lower + dk);
      stencil.share[corner] = (dm != 0 ? m.weight : 1 - m.weight) *
                              (dn != 0 ? n.weight : 1 - n.weight) *
                              (dk != 0 ? k.weight : 1 - k.weight);
    }
    return stencil;
  }

  /// Adds the penalties' part of the normal matrix times x.
  void add_penalties(const VectorXd& x, VectorXd& out) const {
    out.head(nodes()) += shrinkage_ * x.head(nodes());
    out.tail(shared_count()) += shared_shrinkage_ * x.tail(shared_count());
    for (const Bond& bond : bonds_) {
      const double pull = bond.weight * (x[bond.a] - x[bond.b]);
      out[bond.a] += pull;
      out[bond.b] -= pull;
    }
  }

 private:
  Index shared_count() const {
    const std::size_t m = axes_.m.size();
    const std::size_t n = axes_.n.size();
    const std::size_t k = axes_.k.size();
    return static_cast<Index>(n * k + m * k + m * n);
  }

  template <class Visit>
  void for_each_node(const Visit& visit) const {
    const std::size_t n_size = axes_.n.size();
    const std::size_t k_size = axes_.k.size();
    const std::size_t along_n = n_size * k_size;
    const std::size_t along_k = along_n + axes_.m.size() * k_size;
    for (std::size_t m = 0; m < axes_.m.size(); ++m)
      for (std::size_t n = 0; n < n_size; ++n)
        for (std::size_t k = 0; k < k_size; ++k)
          visit(node(m, n, k), {nodes() + static_cast<Index>(n * k_size + k),
                                nodes() + static_cast<Index>(along_n + m * k_size + k),
                                nodes() + static_cast<Index>(along_k + m * n_size + n)});
  }

  Index node(std::size_t m, std::size_t n, std::size_t k) const {
    return static_cast<Index>((m * axes_.n.size() + n) * axes_.k.size() + k);
  }

  void bond(const std::vector<std::int64_t>& axis, std::size_t lower, Index a, Index b,
            const CorrectionOptions& options) {
    if (lower + 1 >= axis.size()) return;
    const double octaves =
        workloads::linear_log2(axis[lower + 1]) - workloads::linear_log2(axis[lower]);
    bonds_.push_back({a, b, options.smoothness / std::max(octaves, 0.1)});
  }

  const CorrectionAxes& axes_;
  double shrinkage_;
  double shared_shrinkage_;
  std::vector<Bond> bonds_;
};

double interpolate(const Stencil& stencil, const VectorXd& x) {
  double sum = 0;
  for (std::size_t i = 0; i < 8; ++i) sum += stencil.share[i] * x[stencil.node[i]];
  return sum;
}

void scatter(const Stencil& stencil, double value, VectorXd& out) {
  for (std::size_t i = 0; i < 8; ++i) out[stencil.node[i]] += stencil.share[i] * value;
}

/// Conjugate gradients on the normal equations, from a starting guess.
void solve(const Lattice& lattice, const std::vector<Stencil>& stencils, const VectorXd& targets,
           const VectorXd& weights, VectorXd& x) {
  const auto apply = [&](const VectorXd& at) {
    const VectorXd values = lattice.expand(at);
    VectorXd pulled = VectorXd::Zero(values.size());
    for (std::size_t i = 0; i < stencils.size(); ++i)
      scatter(stencils[i], weights[static_cast<Index>(i)] * interpolate(stencils[i], values),
              pulled);
    VectorXd out = lattice.gather(pulled);
    lattice.add_penalties(at, out);
    return out;
  };
  VectorXd pushed = VectorXd::Zero(lattice.nodes());
  for (std::size_t i = 0; i < stencils.size(); ++i)
    scatter(stencils[i], weights[static_cast<Index>(i)] * targets[static_cast<Index>(i)], pushed);
  const VectorXd right = lattice.gather(pushed);
  VectorXd residual = right - apply(x);
  VectorXd direction = residual;
  double norm = residual.squaredNorm();
  const double enough = 1e-8 * right.squaredNorm();
  for (int i = 0; i < 300 && norm > enough; ++i) {
    const VectorXd applied = apply(direction);
    const double step = norm / direction.dot(applied);
    x += step * direction;
    residual -= step * applied;
    const double next = residual.squaredNorm();
    direction = residual + next / norm * direction;
    norm = next;
  }
}

}  // namespace

workloads::GemmCorrection fit_correction(const std::vector<Ratio>& ratios,
                                         const CorrectionAxes& axes,
                                         const CorrectionOptions& options) {
  const Lattice lattice(axes, options);
  std::vector<Stencil> stencils;
  VectorXd targets(static_cast<Index>(ratios.size()));
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    stencils.push_back(lattice.stencil(ratios[i].gemm));
    targets[static_cast<Index>(i)] = ratios[i].value - 1;
  }
  VectorXd weights = VectorXd::Ones(targets.size());
  VectorXd x = VectorXd::Zero(lattice.unknowns());
  VectorXd values = VectorXd::Zero(lattice.nodes());
  for (int round = 0; round < options.robust_rounds; ++round) {
    solve(lattice, stencils, targets, weights, x);
    values = lattice.expand(x);
    for (std::size_t i = 0; i < stencils.size(); ++i) {
      const auto row = static_cast<Index>(i);
      const double off =
          (targets[row] - interpolate(stencils[i], values)) / options.residual_spread;
      weights[row] = 1 / (1 + off * off / 4);
    }
  }
  workloads::GemmCorrection correction{axes.m, axes.n, axes.k, {}};
  for (Index i = 0; i < values.size(); ++i)
    correction.percent.push_back(
        static_cast<std::int16_t>(std::lround(100 * std::clamp(values[i], -0.6, 2.0))));
  return correction;
}

}  // namespace stepsim::calibrate
