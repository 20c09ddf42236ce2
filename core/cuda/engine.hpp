// The engine on a device: the plan as kernels read it, the launches of a step, and a mirror of all states on the host,
// in the CPU's layout. Whoever looks at the mirror finds it up to date, and what he writes there is sent before the
// next step.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "block.hpp"
#include "cell/sixteen.h"
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
    // `weighed_along`: the axis of the blocks of 16 cells that energy is summed in; `parts` 2: complex fields;
    // `exponents`: fields lie on the device in 16 bits, E and H times two to the power of these (single precision).
    using Exponents = std::optional<std::array<int, 2>>;
    CardEngine(std::shared_ptr<Device> device, const Layout& layout, const Seams& seams, int parts, int weighed_along,
               const Exponents& exponents = {});
    CardEngine(const CardEngine&) = delete;
    CardEngine& operator=(const CardEngine&) = delete;

    const Layout& layout() const { return mirror_.layout; }  // of the host's mirror
    const Layout& placed() const { return placed_; }         // of the device; `at` of anything counts by it
    bool in_sixteen_bits() const { return exponents_.has_value(); }
    long lost();  // since the last reset, at least so many samples did not fit in 16 bits
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
    // Passes over memory a step: 0.5 or 1, where plain rows are, and 2 elsewhere; 2; or 0: by the time it should take.
    void set_passes(double passes) { passes_ = passes; }
    void add_current(int component, long i, long j, long k, Real weight, int column, Reach& reach);
    void add_circuit(int component, long i, long j, long k, const cell::CircuitNumbers<Wide>& numbers, int column,
                     Reach& reach);
    void add_product(int component, long i, long j, long k, double weight, long place, Reach& reach);
    void add_received(int component, long i, long j, long k, Real weight, unsigned wave, const std::int32_t* columns,
                      const Real* shares, unsigned taps, Reach& reach);
    // What one of these four has gathered becomes a term.
    void finish(Follows kind, const Reach& reach);
    void begin_functional(long terms, long stride, bool shared);
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
    // The steps of the block up to `last`, or all; false when `request_stop` cut it short. `poll` is called once the
    // device has begun, and every `milliseconds`.
    bool run(const std::function<void()>& poll, double milliseconds, long last = -1);
    void request_stop() { stopped_ = true; }
    // What each functional recorded; then `digits()` holds the energy.
    std::vector<std::vector<double>> end();
    const std::vector<std::int64_t>& digits() const { return energy_; }  // of the energy, and how many were not finite
    void resume(long steps);                                             // zero, as after so many steps

    // ---- ranks (messages.cpp)
    // The part of the domain that is not a halo, whose energy counts.
    void set_own(const std::array<Extent, 3>& own) { own_ = own; }
    // A row of states, by their places in the records, then the psi along a, then those along b; gives its number.
    std::size_t add_message(const std::vector<long>& places);
    // States into the row on the device, and back; the device may still be at it afterwards.
    void gather(std::size_t message);
    void scatter(std::size_t message);
    void wait() { device_->wait(); }
    std::pair<const void*, std::size_t> row(std::size_t message) const {  // its address on the device, and its bytes
        return {messages_.at(message).values.data(), messages_.at(message).values.bytes()};
    }
    // The same to the host, and from it.
    void pack(std::size_t message, Real* values);
    void unpack(std::size_t message, const Real* values);
    // As `unpack` of what a message of another engine on this device packs, or where `gathered` holds already; nothing
    // passes through the host.
    void take(std::size_t message, CardEngine& from, std::size_t packed, bool gathered);
    void refreshed();  // halos were written
    // Where the host's mirror has its records, the psi along a and those along b, and how long they are.
    std::array<std::pair<const Real*, std::size_t>, 3> mirrors() const {
        return {{{mirror_.records.get(), std::size_t(mirror_length())},
                 {mirror_.a_psi.get(), fields_.a_psi.size()},
                 {mirror_.b_psi.get(), fields_.b_psi.size()}}};
    }

    // ---- states and recordings on the host
    std::vector<StateArray> states();
    std::vector<PoleBlocks<Real>*> poles();
    long media() const { return media_.size(); }
    const PoleMedium<Real>& medium(long number) const { return media_.at(number); }
    std::vector<cell::CircuitState<Wide>>& circuits();
    std::vector<Transform<Real>>& transforms() { return transforms_; }
    std::vector<Copies<Real>>& copies() { return copies_; }

    // After the first step.
    double passes() const { return sweeps_[1].any() ? 0.5 : sweeps_[0].any() ? 1 : 2; }
    // Bytes that the update of a step moves, of fields and states of the CPML, by the cut; 0 before the first step.
    double moved_bytes() const {
        return lanes * parts() *
               (moved_numbers_[0] * (in_sixteen_bits() ? sizeof(cell::Sixteen) : sizeof(Real)) +
                moved_numbers_[1] * sizeof(Real));
    }
    std::size_t bytes() const;
    std::size_t distinct_blocks() const {
        return coefficients_[0].distinct_blocks() + coefficients_[1].distinct_blocks();
    }
    std::size_t coefficient_bytes() const {  // on the device, once they are there
        return coefficients_[0].bytes() + coefficients_[1].bytes();
    }

private:
    static constexpr int in_double = sizeof(Real) == 8;
    struct HalfArrays {
        std::array<std::array<Buffer<N>, 3>, 3> profile;  // by axis: inverse, decay, drive
        Buffer<unsigned> program_of, entries;
        Buffer<N> values;
    };
    struct FieldSet {
        explicit FieldSet(Device& device) : records(device), a_psi(device), b_psi(device) {}
        Buffer<N> records, a_psi, b_psi;
        std::size_t bytes() const { return records.bytes() + a_psi.bytes() + b_psi.bytes(); }
    };
    struct Sweeping {  // as Cut
        explicit Sweeping(Device& d)
            : plain(d), in_slabs(d), carried(d),
              halves{Buffer<Tile>(d), Buffer<Tile>(d), Buffer<Tile>(d), Buffer<Tile>(d)} {}
        void take(const Cut& cut);
        bool any() const { return plain.size() + in_slabs.size() > 0; }
        std::size_t bytes() const;
        Buffer<Prism> plain, in_slabs;
        Buffer<Tile> carried;
        std::array<Buffer<Tile>, 4> halves;
    };
    struct WaveArrays {
        Buffer<N> values;
        long columns = 0;
    };
    struct Message {
        Buffer<long> places;
        Buffer<N> values;
    };
    void exchange(const Message& message, bool out);
    const Kernel& chosen(const Kernel (&kernel)[2]) const { return kernel[in_double]; }
    const Kernel& chosen(const Kernel (&kernel)[3]) const { return kernel[in_sixteen_bits() ? 2 : in_double]; }
    template <int variants, class Arguments>
    void launch(const Kernel (&kernel)[variants], long threads, const Arguments& arguments) {
        if (threads > 0) device_->launch(chosen(kernel), blocks_for(threads), &arguments);
    }
    long at(int component, long i, long j, long k) const;
    // Address of a sample by its place among all parts; where fields lie in 16 bits, kernels take it for theirs.
    N* place(long at) const {
        const std::size_t bytes = in_sixteen_bits() ? sizeof(cell::Sixteen) : sizeof(N);
        return reinterpret_cast<N*>(reinterpret_cast<char*>(fields_.records.data()) + at * bytes);
    }
    N* part(int number) const { return place(number * placed_.volume_length); }
    long mirror_length() const { return parts() * layout().volume_length; }
    std::size_t length_on_device() const;
    Scale scale(int half) const;
    void send_records();
    void fetch_records();
    template <class OnFields, class OnPsi>
    void each_record(const OnFields& on_fields, const OnPsi& on_psi, long plane);
    bool reaches_far() const { return coupled_.size() > 0; }

    void arrange();
    void remember();
    void send();
    void fetch();
    long make_steps(long number);
    long make_step(long number, long last);
    void sweep_steps(long number, long steps);
    void make_rest(int half, const Buffer<Tile>& tiles, long number);
    void send_snapshot(std::size_t recorder, long number);
    void receive_snapshot();
    void turn() { std::swap(fields_, other_), turned_ = !turned_; }
    void carry_part(int part, const Buffer<Tile>& tiles);
    PsiSets<N> psi_sets(int part) const;
    void sweep_part(int part, long steps, bool in_slabs);
    SweepHalf<N> sweep_half(int half) const;
    bool records(long number) const;
    void record(long number);
    bool may_sweep(long number) const;
    bool sweeps(long number) const;
    bool goes_with_next(long number, long last) const;
    std::array<Cut, 2> cuts_for_passes(const std::vector<Tile>& tiles);
    long at_once(const Kernel& kernel, long together) const;
    void prepare_sweeps(const std::array<Cut, 2>& cuts);
    Places places_of_terms() const;
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
    const Exponents exponents_;
    const Layout placed_;
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
    struct Leaving {  // a part of a snapshot on its way to the host
        std::size_t recorder;
        long number, first, count;
    };
    std::deque<Leaving> leaving_;  // in the order of their arrival
    std::vector<Real> arriving_;   // the snapshot of the first of them

    FieldSet fields_, other_;  // the other one for steps in one pass
    Buffer<N> shares_, coupling_weights_;
    Buffer<Now> now_;
    Buffer<Tile> tiles_;
    std::array<Sweeping, 2> sweeps_;  // of one step, of two
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
    Buffer<long long> digits_, lost_;
    long lost_on_host_ = 0;
    std::vector<Message> messages_;
    std::array<Extent, 3> own_;

    struct Known {
        bool made = false;
        std::size_t graph = 0;
    };
    std::map<std::vector<bool>, Known> graphs_;  // of steps, by what is due in them
    std::size_t graph_changes_ = 0;              // of the device when they were made
    double passes_ = 0;
    std::array<double, 2> moved_numbers_{};  // by a step, of fields and of the CPML, in blocks of cells
    bool turned_ = false;                    // the two sets have changed places
    bool records_last_ = true;               // no term changes samples after a box of them is recorded in the same half
    long waveforms_ = 0, made_ = 0, steps_ = 0;
    long done_ = 0, until_ = 0;  // of the block: made, and to be made now
    bool arranged_ = false, mirror_is_newer_ = false, device_is_newer_ = false, stopped_ = false, weighed_ = false;
    std::vector<std::int64_t> energy_;
};

}  // namespace nearfield::cuda
