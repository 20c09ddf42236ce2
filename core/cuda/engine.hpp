// The engine on a device: the plan as kernels read it, the launches of a step, and a mirror of all states on the host,
// in the CPU's layout. Whoever looks at the mirror finds it up to date, and what he writes there is sent before the
// next step.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "block.hpp"
#include "coefficients.hpp"
#include "cpu/region.hpp"
#include "cut.hpp"
#include "exact_sum.hpp"
#include "pole_blocks.hpp"
#include "recorders.hpp"
#include "stages.hpp"
#include "states.hpp"
#include "tiles.hpp"

namespace nearfield::cuda {

template <class Real>
class CardEngine {
public:
    using N = Number<Real>;
    // `weighed_along`: the axis of the blocks of 16 cells that energy is summed in; `parts` 2: complex fields.
    CardEngine(std::shared_ptr<Device> device, const Layout& layout, const Seams& seams, int parts, int weighed_along);
    CardEngine(const CardEngine&) = delete;
    CardEngine& operator=(const CardEngine&) = delete;

    const Layout& layout() const { return mirror_.layout; }
    const Seams& seams() const { return seams_; }
    int parts() const { return mirror_.parts; }
    long step() const { return made_; }
    const Device& device() const { return *device_; }

    // ---- the plan, before the first step
    Profile<Real>& profile(int half, int axis) { return mirror_.profile[half][axis]; }
    Coefficients<Real>& coefficients(int half) { return coefficients_[half]; }
    void add_medium(PoleMedium<Real> medium) { media_.push_back(std::move(medium)); }
    void set_poles(bool magnetic, long first, long last, const std::vector<long>& media, const Real* stay,
                   const Real* weight);
    void finish_poles();
    // Passes over memory a step: 1, where plain rows are, and 2 elsewhere; 2; or 0: by what it moves.
    void set_passes(int passes) { passes_ = passes; }
    void add_current(int component, long i, long j, long k, Real weight, int column, Reach& reach);
    void add_circuit(int component, long i, long j, long k, const cell::CircuitNumbers<Wide>& numbers, int column,
                     Reach& reach);
    void add_product(int component, long i, long j, long k, double weight, long place, Reach& reach);
    void add_received(int component, long i, long j, long k, Real weight, unsigned wave, const std::int32_t* columns,
                      const Real* shares, unsigned taps, Reach& reach);
    // What one of these four has gathered becomes a term.
    void finish(Follows kind, const Reach& reach);
    void begin_functional(long terms, long stride);
    void add_transform(const BoxOf& box, long frequencies, long stride);
    void add_copies(const BoxOf& box, std::vector<long> steps, bool keep, Real unit);
    void set_coupling(std::vector<long> at, std::vector<unsigned> first, const std::vector<int>& offsets,
                      const std::vector<Real>& weights);

    // ---- a block of steps
    struct Table {  // of one incident wave, (2, steps, columns); empty: silent
        std::vector<Real> values;
        long columns;
    };
    // Amplitudes (steps, waveforms) of E and H terms, phasors (steps, frequencies, 2) of each transform.
    void begin(long steps, const std::array<std::vector<Real>, 2>& amplitudes, long waveforms,
               const std::vector<std::vector<Real>>& phasors, const std::vector<Table>& waves, bool weigh);
    // All steps of the block; false when `request_stop` cut it short. `poll` is called every `milliseconds`.
    bool run(const std::function<void()>& poll, double milliseconds);
    void request_stop() { stopped_ = true; }
    // What each functional recorded; then `digits()` holds the energy.
    std::vector<std::vector<double>> end();
    const std::vector<std::int64_t>& digits() const { return energy_; }  // of the energy, and how many were not finite
    void resume(long steps);                                             // zero, as after so many steps

    // ---- states and recordings on the host
    std::vector<StateArray> states();
    std::vector<PoleBlocks<Real>*> poles();
    const PoleMedium<Real>& medium(long number) const { return media_.at(number); }
    std::vector<cell::CircuitState<Wide>>& circuits();
    std::vector<Transform<Real>>& transforms() { return transforms_; }
    std::vector<Copies<Real>>& copies() { return copies_; }

    int passes() const { return swept_.size() ? 1 : 2; }  // after the first step
    std::size_t bytes() const;
    std::size_t distinct_blocks() const {
        return coefficients_[0].distinct_blocks() + coefficients_[1].distinct_blocks();
    }

private:
    static constexpr int in_double = sizeof(Real) == 8;
    struct HalfArrays {
        std::array<std::array<Buffer<N>, 3>, 3> profile;  // by axis: inverse, decay, drive
        Buffer<unsigned> program_of, entries;
        Buffer<N> values;
    };
    struct WaveArrays {
        Buffer<N> values;
        long columns = 0;
    };
    template <class Arguments>
    void launch(const Kernel (&kernel)[2], long threads, const Arguments& arguments) {
        if (threads > 0) device_->launch(kernel[in_double], blocks_for(threads), &arguments);
    }
    long at(int component, long i, long j, long k) const;
    N* part(int number) const { return records_.data() + number * layout().volume_length; }
    bool reaches_far() const { return coupled_.size() > 0; }

    void arrange();
    void send();
    void fetch();
    long make_steps(long number);
    void make_step(long number);
    void sweep_step(long number);
    bool sweeps(long number) const;
    void prepare_sweeps(const std::vector<Tile>& tiles);
    std::vector<bool> plain_tiles(const std::vector<Tile>& tiles) const;
    Axis<N> axis_of(int half, int axis) const;
    void launch_half(int half, int part, const Buffer<Tile>& tiles);
    bool copies_are_due(long first, long last) const;
    std::vector<bool> due(long first, long count) const;
    void make_half(int half, long number);
    void follow(int half, Stage<Real>& stage, long number);
    Points<N> points_of(int half, const Stage<Real>& stage) const;
    Box<N> box_of(const BoxOf& box) const;
    void close(int half);
    void close_axis(int half, int axis, bool upwards);
    void weigh();

    std::shared_ptr<Device> device_;
    const Seams seams_;
    const int weighed_along_;
    Block<Real> mirror_;
    std::array<Coefficients<Real>, 2> coefficients_;
    std::vector<PoleMedium<Real>> media_;
    std::array<std::unique_ptr<PoleBlocks<Real>>, 4> poles_;  // by part and half step
    std::vector<cell::CircuitState<Wide>> circuits_;          // mirror
    std::array<std::vector<Stage<Real>>, 2> stages_;
    std::vector<typename Stage<Real>::Entry> gathered_;  // of the term that is being added
    std::vector<Current<N>> current_list_;
    std::vector<cell::CircuitNumbers<Wide>> circuit_list_;
    std::vector<int> circuit_column_list_, column_list_, offset_list_;
    std::vector<Product> product_list_;
    std::vector<Real> share_list_;
    std::vector<SumOfProducts> functionals_;
    std::vector<Transform<Real>> transforms_;
    std::vector<Copies<Real>> copies_;

    Buffer<N> records_, other_, a_psi_, b_psi_, shares_, coupling_weights_;
    Buffer<Now> now_;
    Buffer<Tile> tiles_, carried_, electric_, magnetic_;  // the last three of a sweep, see cut.hpp
    Buffer<Column> swept_;
    std::vector<HalfArrays> half_arrays_;
    Buffer<Current<N>> currents_;
    Buffer<cell::CircuitNumbers<Wide>> circuit_numbers_;
    Buffer<cell::CircuitState<Wide>> circuit_states_;
    Buffer<int> circuit_columns_, columns_, offsets_;
    Buffer<Product> products_;
    Buffer<Products> functional_arrays_;
    Buffer<long> coupled_;
    Buffer<unsigned> coupled_first_;
    std::array<Buffer<N>, 2> amplitudes_;
    std::vector<WaveArrays> waves_;
    std::array<Buffer<WaveTable<N>>, 2> wave_tables_;
    Buffer<long long> digits_;

    struct Known {
        bool made = false;
        std::size_t graph = 0;
    };
    std::map<std::vector<bool>, Known> graphs_;  // of steps, by what is due in them
    std::size_t graph_changes_ = 0;              // of the device when they were made
    int passes_ = 0;
    bool turned_ = false;                                   // the two sets of records have changed places
    long waveforms_ = 0, made_ = 0, steps_ = 0, done_ = 0;  // done: of the block
    bool arranged_ = false, mirror_is_newer_ = true, device_is_newer_ = false, stopped_ = false, weighed_ = false;
    std::vector<std::int64_t> energy_;
};

}  // namespace nearfield::cuda
