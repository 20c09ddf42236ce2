// The samples of dispersive media of one half step and part of the fields, in blocks of 16 cells; their states as the
// host last saw them.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "cpu/operations/poles.hpp"
#include "device.hpp"
#include "layout.hpp"

namespace nearfield::cuda {

template <class Real>
class PoleBlocks {
public:
    PoleBlocks(Device& device, const Layout& layout, int component, const std::vector<PoleMedium<Real>>& media)
        : component_(component), layout_(layout), media_(media), blocks_(device), uses_(device), cells_(device),
          numbers_(device), states_(device), of_media_(device) {}

    int component() const { return component_; }  // the first of the three, 6 more for imaginary parts

    // Rows of planes [first, last): stay and weight of these media, each (media, 3, nb, nc).
    void set_planes(long first, long last, const std::vector<long>& media, const Real* stay, const Real* weight) {
        for (long i = first; i < last; ++i)
            for (long component = 0; component < 3; ++component)
                for (long j = 0; j < layout_.nb; ++j)
                    for (long block = 0; block < layout_.blocks; ++block)
                        add_block({i, j, block, component}, media, stay, weight);
    }
    // After the last planes: whether there are any samples; all states are zero.
    bool finish() {
        if (listed_.empty()) return false;
        blocks_.assign(listed_), uses_.assign(used_), cells_.assign(cell_values_);
        std::vector<PoleNumbers> of_media;
        std::vector<Real> numbers;
        for (const PoleMedium<Real>& medium : media_) {
            of_media.push_back({int(medium.firsts), int(medium.seconds), int(numbers.size())});
            numbers.insert(numbers.end(), medium.numbers.begin(), medium.numbers.end());
        }
        of_media_.assign(of_media), numbers_.assign(numbers);
        mirror.assign(length_, Real(0));
        states_.resize(length_);
        return true;
    }
    void send() { states_.write(mirror.data()); }
    void fetch() { states_.read(mirror.data()); }
    void clear() {
        std::fill(mirror.begin(), mirror.end(), Real(0));
        states_.clear();
    }
    // `records`: of its part of the fields; `kernel`: of those in poles.cu.
    void launch(Device& device, const Kernel& kernel, Number<Real>* records, const Scale& scale) const {
        const Poles<Number<Real>> arguments{records,        blocks_.data(),      uses_.data(),
                                            cells_.data(),  of_media_.data(),    numbers_.data(),
                                            states_.data(), int(listed_.size()), scale};
        device.launch(kernel, blocks_for(lanes * long(listed_.size())), &arguments);
    }
    const std::vector<PoleBlock>& blocks() const { return listed_; }
    // Calls f(i, j, k, states) for each sample of a component (0 to 2) and medium in a box; its states are 16 apart.
    template <class F>
    void visit(int component, long medium, const std::array<long, 3>& lower, const std::array<long, 3>& upper, F&& f) {
        const auto begin = std::lower_bound(places_.begin(), places_.end(), lower[0],
                                            [](const Place& place, long i) { return place.i < i; });
        for (auto place = begin; place != places_.end() && place->i < upper[0]; ++place) {
            if (place->component != component || place->j < lower[1] || place->j >= upper[1]) continue;
            const PoleBlock& block = listed_[place - places_.begin()];
            for (unsigned n = block.first; n < block.last; ++n) {
                if (long(used_[n].medium) != medium) continue;
                const Real* const weight = cell_values_.data() + lanes * (2 * long(used_[n].cell) + 1);
                for (long k = std::max(lower[2], lanes * place->block);
                     k < std::min(upper[2], lanes * (place->block + 1)); ++k)
                    if (weight[k % lanes] != Real(0))
                        f(place->i, place->j, k, mirror.data() + used_[n].state + k % lanes);
            }
        }
    }
    std::size_t bytes() const {
        return blocks_.bytes() + uses_.bytes() + cells_.bytes() + numbers_.bytes() + states_.bytes();
    }
    std::vector<Real> mirror;  // of the states

private:
    struct Place {
        long i, j, block, component;
    };
    void add_block(const Place& place, const std::vector<long>& media, const Real* stay, const Real* weight) {
        const auto first = unsigned(used_.size());
        const long begin = lanes * place.block, end = std::min(layout_.nc, begin + lanes);
        for (std::size_t n = 0; n < media.size(); ++n) {
            const long row = ((3 * n + place.component) * layout_.nb + place.j) * layout_.nc;
            if (std::none_of(weight + row + begin, weight + row + end, [](Real w) { return w != Real(0); })) continue;
            used_.push_back({length_, intern(stay + row, weight + row, begin, end), unsigned(media[n])});
            length_ += lanes * media_[media[n]].states();
        }
        if (first == used_.size()) return;
        const long at = layout_.field(int(component_ % 6 + place.component), place.i, place.j) - layout_.record(0, 0);
        listed_.push_back({at + begin, first, unsigned(used_.size())});
        places_.push_back(place);
    }
    unsigned intern(const Real* stay, const Real* weight, long begin, long end) {
        std::array<Real, 2 * lanes> values{};
        std::copy(stay + begin, stay + end, values.begin());
        std::copy(weight + begin, weight + end, values.begin() + lanes);
        const std::string key(reinterpret_cast<const char*>(values.data()), sizeof(values));
        const auto [found, fresh] = known_.try_emplace(key, unsigned(cell_values_.size() / (2 * lanes)));
        if (fresh) cell_values_.insert(cell_values_.end(), values.begin(), values.end());
        return found->second;
    }

    const int component_;
    const Layout layout_;
    const std::vector<PoleMedium<Real>>& media_;
    std::vector<PoleBlock> listed_;
    std::vector<Place> places_;  // of each block listed
    std::vector<PoleUse> used_;
    std::vector<Real> cell_values_;
    long length_ = 0;  // of the states
    std::unordered_map<std::string, unsigned> known_;
    Buffer<PoleBlock> blocks_;
    Buffer<PoleUse> uses_;
    Buffer<Number<Real>> cells_, numbers_, states_;
    Buffer<PoleNumbers> of_media_;
};

}  // namespace nearfield::cuda
