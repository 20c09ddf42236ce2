// Means of what pieces of space hold, weighted by their lengths: sum w v / sum w, or in series sum w / sum (w / v), added in
// the order of the pieces. That of equal values is this value to the last bit.
#pragma once

#include <algorithm>
#include <vector>

namespace nearfield {

// Numbers with so many doubles from one to the next, and what they weigh.
struct Part {
    const double* at;
    long step;
    double weight;
};

// What a piece adds to the total, and the mean of the pieces.
template <bool series>
double part_of(double weight, double value) {
    return series ? weight / value : weight * value;
}
template <bool series>
double mean_of(double total, double whole, double least, double most) {
    return std::min(std::max(series ? whole / total : total / whole, least), most);
}

// Of `parts` values.
template <bool series>
double mean_of(const double* values, long step, const double* weights, long parts) {
    double total = 0.0, whole = 0.0, least = values[0], most = values[0];
    for (long p = 0; p < parts; ++p) {
        const double value = values[p * step];
        total += part_of<series>(weights[p], value);
        whole += weights[p];
        least = std::min(least, value), most = std::max(most, value);
    }
    return mean_of<series>(total, whole, least, most);
}

// Number by number, of `count` numbers of each part.
template <bool series>
void means_of(const std::vector<Part>& parts, long count, double* made) {
    constexpr long most_at_once = 256;
    for (long first = 0; first < count; first += most_at_once) {
        const long n = std::min(count - first, most_at_once);
        double total[most_at_once]{}, least[most_at_once], most[most_at_once], whole = 0.0;
        for (long k = 0; k < n; ++k) least[k] = most[k] = parts[0].at[(first + k) * parts[0].step];
        for (const Part& part : parts) {
            whole += part.weight;
            for (long k = 0; k < n; ++k) {
                const double value = part.at[(first + k) * part.step];
                total[k] += part_of<series>(part.weight, value);
                least[k] = std::min(least[k], value), most[k] = std::max(most[k], value);
            }
        }
        for (long k = 0; k < n; ++k) made[first + k] = mean_of<series>(total[k], whole, least[k], most[k]);
    }
}

}  // namespace nearfield
