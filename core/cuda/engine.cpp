#include "engine.hpp"

#include <stdexcept>

namespace nearfield::cuda {

template <class Real>
CardEngine<Real>::CardEngine(std::shared_ptr<Device> device, const Layout& layout, const Seams& seams, int parts,
                             int weighed_along, const Exponents& exponents)
    : device_(std::move(device)), seams_(seams), weighed_along_(weighed_along), mirror_(layout, true, parts),
      exponents_(exponents), placed_{layout.na, layout.nb, layout.nc, layout.slab, exponents ? 2 : 1},
      coefficients_{Coefficients<Real>(layout), Coefficients<Real>(layout)}, fields_(*device_), other_(*device_),
      shares_(*device_), coupling_weights_(*device_), now_(*device_, 1), tiles_(*device_),
      sweeps_{Sweeping(*device_), Sweeping(*device_)}, currents_(*device_), circuit_numbers_(*device_),
      circuit_states_(*device_), circuit_columns_(*device_), columns_(*device_), offsets_(*device_),
      products_(*device_), functional_arrays_(*device_), coupled_(*device_), coupled_first_(*device_),
      amplitudes_{Buffer<N>(*device_), Buffer<N>(*device_)},
      wave_tables_{Buffer<WaveTable<N>>(*device_), Buffer<WaveTable<N>>(*device_)},
      digits_(*device_, ExactSum::digits + 1), lost_(*device_, 1),
      own_{Extent{0, layout.na}, Extent{0, layout.nb}, Extent{0, layout.nc}}, energy_(ExactSum::digits + 1) {
    if (exponents && !std::is_same_v<Real, float>)
        throw std::invalid_argument("fields in 16 bits go with arithmetic in single precision");
    fields_.records.resize(length_on_device());
    fields_.a_psi.resize(parts * layout.a_psi_length());
    fields_.b_psi.resize(parts * layout.b_psi_length());
    resume(0);
}

template <class Real>
long CardEngine<Real>::at(int component, long i, long j, long k) const {
    return component / 6 * placed_.volume_length + placed_.field(component % 6, i, j) + k;
}

// ---- the plan

template <class Real>
void CardEngine<Real>::set_poles(bool magnetic, long first, long last, const std::vector<long>& media, const Real* stay,
                                 const Real* weight) {
    for (int part = 0; part < parts(); ++part) {
        auto& made = poles_[2 * part + magnetic];
        if (!made) made = std::make_unique<PoleBlocks<Real>>(*device_, placed_, 6 * part + 3 * magnetic, media_);
        made->set_planes(first, last, media, stay, weight);
    }
}

template <class Real>
void CardEngine<Real>::finish_poles() {
    for (auto& made : poles_)
        if (made && !made->finish()) made.reset();
}

template <class Real>
void CardEngine<Real>::add_current(int component, long i, long j, long k, Real weight, int column, Reach& reach) {
    reach.add(component, i, j, k);
    gathered_.push_back({at(component, i, j, k), {Act::current, unsigned(current_list_.size())}, {}, {}});
    current_list_.push_back({weight, column});
}

template <class Real>
void CardEngine<Real>::add_circuit(int component, long i, long j, long k, const cell::CircuitNumbers<Wide>& numbers,
                                   int column, Reach& reach) {
    reach.add(component, i, j, k);
    gathered_.push_back({at(component, i, j, k), {Act::circuit, unsigned(circuit_list_.size())}, {}, {}});
    circuit_list_.push_back(numbers);
    circuit_column_list_.push_back(column);
    circuits_.push_back({});
}

template <class Real>
void CardEngine<Real>::begin_functional(long terms, long stride, bool shared) {
    functionals_.push_back({terms, stride, shared, Buffer<Wide>(*device_)});
}

template <class Real>
void CardEngine<Real>::add_product(int component, long i, long j, long k, double weight, long place, Reach& reach) {
    reach.add(component, i, j, k);
    gathered_.push_back({at(component, i, j, k), {Act::product, unsigned(product_list_.size())}, {}, {}});
    product_list_.push_back({flushed(weight), unsigned(functionals_.size() - 1), unsigned(place)});
}

template <class Real>
void CardEngine<Real>::add_received(int component, long i, long j, long k, Real weight, unsigned wave,
                                    const std::int32_t* columns, const Real* shares, unsigned taps, Reach& reach) {
    reach.add(component, i, j, k);
    gathered_.push_back({at(component, i, j, k), {}, {wave, taps, unsigned(column_list_.size())}, weight});
    column_list_.insert(column_list_.end(), columns, columns + taps);
    share_list_.insert(share_list_.end(), shares, shares + taps);
}

template <class Real>
void CardEngine<Real>::finish(Follows kind, const Reach& reach) {
    if (gathered_.empty()) return;
    const int half = gathered_[0].at % placed_.record_length / (3 * placed_.field_length);
    auto& entries = stage_for(*device_, stages_[half], kind, reach).entries;
    entries.insert(entries.end(), gathered_.begin(), gathered_.end());
    gathered_.clear();
}

template <class Real>
void CardEngine<Real>::add_transform(const BoxOf& box, long frequencies, long stride) {
    Reach reach(false);
    reach.add(box.component, box.lower, box.upper);
    stage_for(*device_, stages_[box.component / 3 % 2], Follows::spectrum, reach).recorder = transforms_.size();
    transforms_.push_back(
        {box, frequencies, stride, Buffer<N>(*device_, 2 * frequencies * box.samples()), Buffer<N>(*device_)});
}

template <class Real>
void CardEngine<Real>::add_copies(const BoxOf& box, std::vector<long> steps, bool keep, Real unit) {
    Reach reach(false);
    reach.add(box.component, box.lower, box.upper);
    stage_for(*device_, stages_[box.component / 3 % 2], Follows::snapshot, reach).recorder = copies_.size();
    copies_.push_back({box, std::move(steps), keep, unit, Buffer<N>(*device_), {}, {}});
}

template <class Real>
void CardEngine<Real>::set_coupling(std::vector<long> sample, std::vector<unsigned> first,
                                    const std::vector<int>& offsets, const std::vector<Real>& weights) {
    coupled_.assign(sample), coupled_first_.assign(first), offsets_.assign(offsets), coupling_weights_.assign(weights);
}

// Everything that the plan said goes to the device, once.
template <class Real>
void CardEngine<Real>::arrange() {
    if (arranged_) return;
    arranged_ = true;
    const std::vector<Tile> tiles = tiles_of(layout(), [this](int axis, long first, long last) {
        return std::all_of(mirror_.profile.begin(), mirror_.profile.end(), [=](const auto& half) {
            const auto begin = half[axis].inverse.begin();
            return std::all_of(begin + first, begin + last, [](Real inverse) { return inverse == Real(1); });
        });
    });
    const std::array<Cut, 2> cuts = cuts_for_passes(tiles);
    tiles_.assign(tiles);
    for (int half = 0; half < 2; ++half) {
        const auto buffer = [&] { return Buffer<N>(*device_); };
        HalfArrays arrays{
            {{{{buffer(), buffer(), buffer()}}, {{buffer(), buffer(), buffer()}}, {{buffer(), buffer(), buffer()}}}},
            Buffer<unsigned>(*device_),
            Buffer<unsigned>(*device_),
            buffer()};
        for (int axis = 0; axis < 3; ++axis) {
            const Profile<Real>& p = mirror_.profile[half][axis];
            const std::vector<Real>* const columns[3] = {&p.inverse, &p.decay, &p.drive};
            for (int n = 0; n < 3; ++n) arrays.profile[axis][n].assign(*columns[n]);
        }
        arrays.program_of.assign(coefficients_[half].program_of);
        arrays.entries.assign(coefficients_[half].entries);
        arrays.values.assign(coefficients_[half].values);
        half_arrays_.push_back(std::move(arrays));
        for (Stage<Real>& stage : stages_[half]) stage.settle();
    }
    currents_.assign(current_list_), circuit_numbers_.assign(circuit_list_);
    circuit_columns_.assign(circuit_column_list_), circuit_states_.resize(circuits_.size());
    products_.assign(product_list_), columns_.assign(column_list_), shares_.assign(share_list_);
    prepare_sweeps(cuts);  // what is not needed comes last
}

// ---- states

template <class Real>
void CardEngine<Real>::send() {
    if (!mirror_is_newer_) return;
    mirror_is_newer_ = false;
    send_records();
    fields_.a_psi.write(mirror_.a_psi.get());
    fields_.b_psi.write(mirror_.b_psi.get());
    for (auto* each : poles()) each->send();
    circuit_states_.write(circuits_.data());
    for (int half = 0; half < 2; ++half) close(half);
}

template <class Real>
void CardEngine<Real>::fetch() {
    if (!device_is_newer_) return;
    device_is_newer_ = false;
    fetch_records();
    fields_.a_psi.read(mirror_.a_psi.get());
    fields_.b_psi.read(mirror_.b_psi.get());
    for (auto& each : poles_)
        if (each) each->fetch();
    circuit_states_.read(circuits_.data());
}

template <class Real>
std::vector<StateArray> CardEngine<Real>::states() {
    fetch();
    mirror_is_newer_ = true;
    return states_of(mirror_);
}

template <class Real>
std::vector<PoleBlocks<Real>*> CardEngine<Real>::poles() {
    std::vector<PoleBlocks<Real>*> all;
    for (auto& each : poles_)
        if (each) all.push_back(each.get());
    return all;
}

template <class Real>
std::vector<cell::CircuitState<Wide>>& CardEngine<Real>::circuits() {
    fetch();
    mirror_is_newer_ = true;
    return circuits_;
}

template <class Real>
void CardEngine<Real>::resume(long steps) {
    std::fill_n(mirror_.records.get(), mirror_length(), Real(0));
    std::fill_n(mirror_.a_psi.get(), fields_.a_psi.size(), Real(0));
    std::fill_n(mirror_.b_psi.get(), fields_.b_psi.size(), Real(0));
    for (auto* each : poles()) each->clear();
    std::fill(circuits_.begin(), circuits_.end(), cell::CircuitState<Wide>{});
    for (auto* each : {&fields_.records, &fields_.a_psi, &fields_.b_psi}) each->clear();
    if (circuit_states_.data()) circuit_states_.clear();
    for (Transform<Real>& each : transforms_) each.sums.clear();
    for (Copies<Real>& each : copies_) each.values.clear(), each.places.clear();
    made_ = steps, steps_ = 0;
    lost_.clear(), lost_on_host_ = 0;
    mirror_is_newer_ = device_is_newer_ = stopped_ = false;  // both are zero
}

template <class Real>
std::size_t CardEngine<Real>::bytes() const {
    std::size_t sum = fields_.bytes() + other_.bytes() + shares_.bytes() + columns_.bytes() + offsets_.bytes() +
                      coupling_weights_.bytes() + tiles_.bytes() + sweeps_[0].bytes() + sweeps_[1].bytes();
    for (const HalfArrays& each : half_arrays_)
        sum += each.program_of.bytes() + each.entries.bytes() + each.values.bytes();
    for (const auto& each : poles_) sum += each ? each->bytes() : 0;
    for (const auto& half : stages_)
        for (const Stage<Real>& stage : half) sum += stage.bytes();
    for (const Transform<Real>& each : transforms_) sum += each.sums.bytes() + each.phasors.bytes();
    for (const Copies<Real>& each : copies_) sum += each.taken_in_block.bytes();
    return sum;
}

template class CardEngine<float>;
template class CardEngine<double>;

}  // namespace nearfield::cuda
