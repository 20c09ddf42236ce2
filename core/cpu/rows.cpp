// The update of one row. Equation, E (H alike, forward differences, minus sign):
//     Ex = Ca Ex + Cb ( d(Hz)/db - d(Hy)/dc ),   d(.)/du = difference u / (kappa length) [+ psi in a CPML slab],
// u the plan's unit length; c dt/u is in Cb, so that on a grid of cubes the factor is exactly 1 and is left out.
// Layout: core/layout.hpp. Traffic: 24 + 24 bytes read and written a cell for a fused E and H sweep in single
// precision, 32 more in each CPML slab; coefficients come from a palette that stays in L1.
// Compiled with NEARFIELD_ISA (a namespace) and NEARFIELD_VECTOR_BYTES by CMake.

#include "rows.hpp"

#include <algorithm>
#include <cstring>

#include "update.h"
#include "vectors.hpp"

namespace nearfield::NEARFIELD_ISA {

// The differences of a whole run along an axis in one of its slabs: broadcast numbers, psi where `states` points.
template <class Real>
struct Stretch {
    using V = typename Vector<Real>::type;
    V inverse, decay, drive;
    Real* psi;
    Stretch(const typename HalfStep<Real>::Axis& axis, long n, Real* states)
        : inverse(broadcast(axis.inverse[n])), decay(broadcast(axis.decay[n])), drive(broadcast(axis.drive[n])), psi(states) {}
    V operator()(V difference, std::size_t at) const {
        V p = load(psi + at);
        const V value = stretched<V, V>(difference, inverse, decay, drive, p);
        store(psi + at, p);
        return value;
    }
};

// Where a run lies: its row, the offset of the row's record, cells [first, last) of it, its coefficients: of all its blocks,
// or in the places that each has.
template <class Real>
struct Place {
    long i, j, at;
    std::size_t first, last;
    const Real* values;
    const std::uint32_t* places;
};

// One run. `ASlab`, `BSlab`, `CSlab`: in a CPML along that axis; `unit`: inverse lengths along the other axes are exactly
// 1. A function of its own for each variant: all its pointers stay in registers. They are locals, because the stores may
// alias anything that lies in memory.
template <class Real, bool electric, bool ASlab, bool BSlab, bool unit, Kind kind, bool CSlab>
void advance_run(const HalfStep<Real>& h, const Place<Real>& place) {
    using V = typename Vector<Real>::type;
    constexpr std::size_t W = Vector<Real>::width;
    constexpr long towards = electric ? -1 : 1;
    Real *const fx = h.updated + place.at, *const fy = fx + h.field, *const fz = fy + h.field;
    const Real *const x = h.read + place.at, *const y = x + h.field, *const z = y + h.field;
    const Real *const a_y = y + towards * h.plane, *const a_z = z + towards * h.plane;
    const Real *const b_x = x + towards * h.record, *const b_z = z + towards * h.record;
    const V ai = broadcast(h.a.inverse[place.i]), bi = broadcast(h.b.inverse[place.j]);
    const Stretch<Real> stretch_a(h.a, place.i, ASlab ? h.a_psi + h.layout->a_psi(place.i, place.j) : nullptr);
    const Stretch<Real> stretch_b(h.b, place.j, BSlab ? h.b_psi + h.layout->b_psi(place.i, place.j) : nullptr);
    const Real *const c_inverse = h.c.inverse, *const c_decay = h.c.decay, *const c_drive = h.c.drive;
    // psi of the slabs along c lie without a gap: those of the upper one follow those of the lower.
    Real* const c_psi = h.c_psi + place.at - (place.first >= h.c_gap.first ? 4 * h.c_gap.length : 0);
    const Real* const values = place.values;
    const std::uint32_t* const places = place.places;
    const V ux = broadcast(values[0]), uy = broadcast(values[lanes]), uz = broadcast(values[2 * lanes]);
    // The last vectors of x and y for E, which looks back along c; the present ones for H, which looks ahead.
    V carryX = load(x + place.first - (electric ? W : 0)), carryY = load(y + place.first - (electric ? W : 0));

    for (std::size_t begin = place.first, o = begin, last = place.last; o < last; o += W) {
        V X, Y, cX, cY;
        const V Z = load(z + o);
        if constexpr (electric) {
            X = load(x + o), Y = load(y + o);
            cX = X - one_below<Real>(carryX, X, x + o), cY = Y - one_below<Real>(carryY, Y, y + o);
            carryX = X, carryY = Y;
        } else {
            X = carryX, Y = carryY;
            carryX = load(x + o + W), carryY = load(y + o + W);
            cX = one_above<Real>(X, carryX, x + o) - X, cY = one_above<Real>(Y, carryY, y + o) - Y;
        }
        // Differences are upper minus lower sample.
        const V aY = electric ? Y - load(a_y + o) : load(a_y + o) - Y;
        const V aZ = electric ? Z - load(a_z + o) : load(a_z + o) - Z;
        const V bX = electric ? X - load(b_x + o) : load(b_x + o) - X;
        const V bZ = electric ? Z - load(b_z + o) : load(b_z + o) - Z;
        const std::size_t lane = o % lanes, states = 4 * (o - lane) + lane;
        V dcX, dcY, daY, daZ, dbX, dbZ;
        if constexpr (CSlab) {
            const V inverse = load(c_inverse + o), decay = load(c_decay + o), drive = load(c_drive + o);
            V p = load(c_psi + states), q = load(c_psi + states + lanes);
            dcY = stretched<V, V>(cY, inverse, decay, drive, p), dcX = stretched<V, V>(cX, inverse, decay, drive, q);
            store(c_psi + states, p), store(c_psi + states + lanes, q);
        } else if constexpr (unit) {
            dcY = cY, dcX = cX;
        } else {
            const V inverse = load(c_inverse + o);
            dcY = cY * inverse, dcX = cX * inverse;
        }
        if constexpr (BSlab)
            dbZ = stretch_b(bZ, states), dbX = stretch_b(bX, states + lanes);
        else
            dbZ = unit ? bZ : bZ * bi, dbX = unit ? bX : bX * bi;
        if constexpr (ASlab)
            daZ = stretch_a(aZ, states), daY = stretch_a(aY, states + lanes);
        else
            daZ = unit ? aZ : aZ * ai, daY = unit ? aY : aY * ai;
        if constexpr (kind == Kind::lossy) {
            const auto put = [&](Real* f, const Real* q, V one, V two) {
                if constexpr (electric)
                    store(f, advance_electric<V, V>(load(f), load(q), load(q + lanes), one, two));
                else
                    store(f, advance_magnetic<V, V>(load(f), load(q), load(q + lanes), one, two));
            };
            const Real* const c = values + lanes * places[(o - begin) / lanes] + lane;
            put(fx + o, c, dbZ, dcY), put(fy + o, c + 2 * lanes, dcX, daZ), put(fz + o, c + 4 * lanes, daY, dbX);
        } else {
            const auto put = [&](Real* f, V drive, V one, V two) {
                if constexpr (electric)
                    store(f, advance_electric<V, V>(load(f), drive, one, two));
                else
                    store(f, advance_magnetic<V, V>(load(f), drive, one, two));
            };
            constexpr bool uniform = kind == Kind::uniform;
            const Real* const c = uniform ? nullptr : values + lanes * places[(o - begin) / lanes] + lane;
            put(fx + o, uniform ? ux : load(c), dbZ, dcY);
            put(fy + o, uniform ? uy : load(c + lanes), dcX, daZ);
            put(fz + o, uniform ? uz : load(c + 2 * lanes), daY, dbX);
        }
    }
}

template <class Real>
using Advance = void (*)(const HalfStep<Real>&, const Place<Real>&);

// The variants of a row by [in a slab along a][along b][unit], and of its runs by [kind][stretched].
template <class Real, bool electric, bool ASlab, bool BSlab, bool unit>
constexpr Advance<Real> of_runs[6] = {
    advance_run<Real, electric, ASlab, BSlab, unit, Kind::uniform, false>,
    advance_run<Real, electric, ASlab, BSlab, unit, Kind::uniform, true>,
    advance_run<Real, electric, ASlab, BSlab, unit, Kind::lossless, false>,
    advance_run<Real, electric, ASlab, BSlab, unit, Kind::lossless, true>,
    advance_run<Real, electric, ASlab, BSlab, unit, Kind::lossy, false>,
    advance_run<Real, electric, ASlab, BSlab, unit, Kind::lossy, true>,
};
template <class Real, bool electric>
constexpr const Advance<Real>* of_rows[8] = {
    of_runs<Real, electric, false, false, false>, of_runs<Real, electric, false, false, true>,
    of_runs<Real, electric, false, true, false>, of_runs<Real, electric, false, true, true>,
    of_runs<Real, electric, true, false, false>, of_runs<Real, electric, true, false, true>,
    of_runs<Real, electric, true, true, false>, of_runs<Real, electric, true, true, true>,
};

// row[at] += amount as a whole vector: one cell stored by itself would hold up the next load of its vector.
template <class Real>
inline void add_single(Real* row, std::int32_t at, const Real& amount) {
    constexpr std::int32_t W = Vector<Real>::width;
    Real* const place = row + (at & -W);
    store(place, plus_in_lane<Real>(load(place), at & (W - 1), amount));
}

template <class Real, bool electric, bool taking>
void update(const HalfStep<Real>& h, long i, long j, long first, long last, const Real* amounts) {
    const Program program = h.programs[h.program_of[i * h.rows + j]];
    const Length a = h.a.length[i], b = h.b.length[j];
    const bool unit = h.unit && a != Length::scaled && b != Length::scaled;
    const Advance<Real>* variants = of_rows<Real, electric>[4 * (a == Length::stretched) + 2 * (b == Length::stretched) + unit];
    Place<Real> place{i, j, i * h.plane + j * h.record, 0, 0, nullptr, nullptr};
    for (const Run *run = h.runs + program.first, *end = run + program.count; run != end; ++run) {
        place.first = lanes * std::max<long>(first, run->first), place.last = lanes * std::min<long>(last, run->last);
        const bool uniform = run->kind == Kind::uniform;
        place.values = h.values + (uniform ? lanes * run->offset : 0);
        place.places = h.places + (uniform ? 0 : run->offset + place.first / lanes - run->first);
        if (place.first < place.last) variants[2 * int(run->kind) + run->stretched](h, place);
    }
    for (const Held *held = h.held + program.held_first, *end = held + program.held_count; held != end; ++held) {
        Real* const f = h.updated + place.at + held->component * h.field;
        for (long k = std::max<long>(held->first, lanes * first), stop = std::min<long>(held->last, lanes * last); k < stop; ++k) f[k] = 0;
    }
    if constexpr (!taking) return;
    Real* const row = h.updated + place.at;
    for (const Taken *taken = h.taken + program.taken_first, *end = taken + program.taken_count; taken != end; ++taken)
        if (taken->block >= first && taken->block < last) add_single(row, taken->at, amounts[taken->amount]);
}

template <class Real>
void energy(const Real* row, long stride, long length, double* sums) {
    for (long k = 0; k < length; k += lanes) {
        double lane_sum[lanes] = {};
        for (int component = 0; component < 6; ++component) {
            const Real* p = row + component * stride + k;
            for (long lane = 0; lane < lanes; ++lane) lane_sum[lane] += double(p[lane]) * double(p[lane]);
        }
        double sum = 0;
        for (double s : lane_sum) sum += s;
        sums[k / lanes] = sum;
    }
}

template <class Real>
void accumulate(Real* sums, long rows, long columns, const Real* left, long left_term, const Real* right, long right_term,
                long terms) {
    for (long r = 0; r < rows; ++r)
        for (long c = 0; c < columns; c += Vector<Real>::width) {
            auto sum = load(sums + r * columns + c);
            for (long n = 0; n < terms; ++n) sum += broadcast(left[n * left_term + r]) * load(right + n * right_term + c);
            store(sums + r * columns + c, sum);
        }
}

// A store that does not fetch the line it overwrites.
template <class Real>
inline void store_past_caches(Real* p, typename Vector<Real>::type v) {
#if NEARFIELD_VECTOR_BYTES == 64
    _mm512_stream_si512(reinterpret_cast<__m512i*>(p), __m512i(v));
#elif NEARFIELD_VECTOR_BYTES == 32
    _mm256_stream_si256(reinterpret_cast<__m256i*>(p), __m256i(v));
#elif defined(__SSE2__)
    _mm_stream_si128(reinterpret_cast<__m128i*>(p), __m128i(v));
#else
    store(p, v);
#endif
}

// Reads up to a line past the end, which rows are padded for.
template <class Real>
void send(Real* to, const Real* from, long count, Real unit) {
    constexpr long W = Vector<Real>::width, line = 64 / sizeof(Real);
    const auto scale = broadcast(unit);
    const auto part_of_line = [&](long n, long cells) {
        alignas(64) Real scaled[line];
        for (long k = 0; k < line; k += W) store(scaled + k, load(from + n + k) * scale);
        std::memcpy(to + n, scaled, cells * sizeof(Real));
    };
    const long past = reinterpret_cast<std::uintptr_t>(to) / sizeof(Real) % line;
    long n = std::min(count, (line - past) % line);
    if (n) part_of_line(0, n);
    for (; n + line <= count; n += line)
        for (long k = 0; k < line; k += W) store_past_caches(to + n + k, load(from + n + k) * scale);
    if (n < count) part_of_line(n, count - n);
}

// One vector of cells with the recursions of one medium, whose numbers are vectors in registers or are broadcast here.
template <class Real, class Number>
inline typename Vector<Real>::type remembered(typename Vector<Real>::type e, Real* s, const Number* c, long firsts, long seconds) {
    using V = typename Vector<Real>::type;
    const auto number = [](const Number& value) {
        if constexpr (sizeof(Number) == sizeof(V)) return value;
        else return broadcast<Real>(value);
    };
    V sum{};
    for (long n = 0; n < firsts; ++n, c += 2, s += lanes) {
        const V t = load(s);
        sum = n ? sum + t : t;
        store(s, t + (number(c[0]) * t + number(c[1]) * e));
    }
    for (long n = 0; n < seconds; ++n, c += 4, s += 2 * lanes) {
        const V t = load(s), u = load(s + lanes), k = number(c[0]);
        sum = firsts + n ? sum + t : t;
        store(s, t + ((k * t + u) + number(c[2]) * e));
        store(s + lanes, u + ((number(c[1]) * t + k * u) + number(c[3]) * e));
    }
    return sum;
}

template <class Real, class Number>
inline void poles_in(Real* row, const Real* old, const PolePiece* piece, long pieces, long first, long last, const std::uint32_t* cells_of,
                     const Real* cells, Real* states, const Number* numbers, long firsts, long seconds) {
    for (const PolePiece* end = piece + pieces; piece != end; ++piece) {
        const long from = std::max<long>(first, piece->first), to = std::min<long>(last, piece->last), skipped = from - piece->first;
        const std::uint32_t* cell = cells_of + piece->cells + skipped;
        Real* state = states + lanes * (piece->state + skipped * (firsts + 2 * seconds));
        for (long at = piece->field + lanes * from, end_of_piece = piece->field + lanes * to; at < end_of_piece; at += lanes) {
            const Real* const stay = cells + 2 * lanes * *cell++;
            for (long o = 0; o < lanes; o += Vector<Real>::width) {
                const auto sum = remembered<Real>(load(old + at + o), state + o, numbers, firsts, seconds);
                store(row + at + o, load(stay + o) * load(row + at + o) - load(stay + lanes + o) * sum);
            }
            state += lanes * (firsts + 2 * seconds);
        }
    }
}

// A function for each usual number of poles: loops unrolled, and numbers in registers, which the stores cannot change.
template <class Real, int firsts, int seconds>
void poles_of(Real* row, const Real* old, const PolePiece* pieces, long count, long first, long last, const std::uint32_t* cells_of,
              const Real* cells, Real* states, const Real* numbers, long, long) {
    typename Vector<Real>::type kept[2 * firsts + 4 * seconds + 1];
    for (long n = 0; n < 2 * firsts + 4 * seconds; ++n) kept[n] = broadcast(numbers[n]);
    poles_in(row, old, pieces, count, first, last, cells_of, cells, states, kept, firsts, seconds);
}

template <class Real>
void poles(Real* row, const Real* old, const PolePiece* pieces, long count, long first, long last, const std::uint32_t* cells_of,
           const Real* cells, Real* states, const Real* numbers, long firsts, long seconds) {
    static constexpr decltype(&poles<Real>) usual[4][3] = {
        {poles_of<Real, 0, 0>, poles_of<Real, 0, 1>, poles_of<Real, 0, 2>},
        {poles_of<Real, 1, 0>, poles_of<Real, 1, 1>, poles_of<Real, 1, 2>},
        {poles_of<Real, 2, 0>, poles_of<Real, 2, 1>, poles_of<Real, 2, 2>},
        {poles_of<Real, 3, 0>, poles_of<Real, 3, 1>, poles_of<Real, 3, 2>},
    };
    if (firsts < 4 && seconds < 3)
        usual[firsts][seconds](row, old, pieces, count, first, last, cells_of, cells, states, numbers, firsts, seconds);
    else
        poles_in(row, old, pieces, count, first, last, cells_of, cells, states, numbers, firsts, seconds);
}

// The first or the last vector of a run holds samples beside it, which take nothing: minus zero changes no value.
template <class Real>
inline typename Vector<Real>::type within(typename Vector<Real>::type amount, std::int32_t k, std::int32_t count) {
    using V = typename Vector<Real>::type;
    decltype(V{} == V{}) lane;
    for (std::int32_t n = 0; n < Vector<Real>::width; ++n) lane[n] = k + n;
    return (lane >= 0) & (lane < count) ? amount : broadcast(Real(-0.0));
}

// A function for each usual number of taps, whose shares stay in registers; `usual` 0: any. Vectors are those of the
// update: others would wait for its stores. `adding`: to the row; else the amounts overwrite whole vectors.
template <class Real, int usual, bool adding>
inline void incident_of(Real* row, long at, const Real* weight, long count, const Real* table, const std::int32_t* column,
                        const Real* share, long given, bool along) {
    using V = typename Vector<Real>::type;
    constexpr long W = Vector<Real>::width;
    const long taps = usual ? usual : given;
    V kept[usual ? usual : 1];
    for (long n = 0; n < usual; ++n) kept[n] = broadcast(share[n]);
    const auto value = [&](auto&& at_tap) {
        V sum = at_tap(0);
        if (taps > 1) sum *= usual ? kept[0] : broadcast(share[0]);
        for (long n = 1; n < taps; ++n) sum += (usual ? kept[n] : broadcast(share[n])) * at_tap(n);
        return sum;
    };
    const V same = along ? V{} : value([&](long n) { return broadcast(table[column[n]]); });
    for (long k = -(at & (W - 1)); k < count; k += W) {
        const V amount = load(weight + k) * (along ? value([&](long n) { return load(table + column[n] + k); }) : same);
        Real* const f = row + at + k;
        if constexpr (!adding)
            store(f, amount);
        else
            store(f, load(f) + (k < 0 || k + W > count ? within<Real>(amount, k, count) : amount));
    }
}

template <class Real, bool adding>
void incident(Real* row, long at, const Real* weight, long count, const Real* table, const std::int32_t* column, const Real* share,
              long taps, bool along) {
    (taps == 1    ? incident_of<Real, 1, adding>
     : taps == 6  ? incident_of<Real, 6, adding>
     : taps == 10 ? incident_of<Real, 10, adding>
                  : incident_of<Real, 0, adding>)(row, at, weight, count, table, column, share, taps, along);
}

template <class Real>
void singles(Real* row, const std::int32_t* at, const Real* amount, long count) {
    for (long n = 0; n < count; ++n) add_single(row, at[n], amount[lanes * n]);
}

template <class Real>
constexpr Rows<Real> table{{update<Real, true, false>, update<Real, true, true>},
                           {update<Real, false, false>, update<Real, false, true>}, energy<Real>, accumulate<Real>, send<Real>,
                                poles<Real>, incident<Real, true>, incident<Real, false>, singles<Real>};

const Rows<float>& rows_single() { return table<float>; }
const Rows<double>& rows_double() { return table<double>; }

}  // namespace nearfield::NEARFIELD_ISA
