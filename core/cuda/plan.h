// What kernels are given: plain structs of numbers and pointers into the card's memory, filled by the host
// (cuda/engine.hpp). Records, psi and profiles lie as core/layout.hpp says. Real is float or Wide. No includes but of
// this folder and of cell/.
#pragma once

#include "cell/circuit.h"
#include "numbers.h"

namespace nearfield::cuda {

// Where a block of steps is; kernels of a step that is made over and over again read their tables by it.
struct Now {
    long step;      // m, from 1
    long in_block;  // from 0
    long before;    // steps made before the block
};
template <class Real>
struct Tick {
    Now* now;
};

// Of fields that lie in 16 bits (stored.h), and where those that do not fit are counted, four neighbours
// as one; else nothing asks for it.
struct Scale {
    float up = 1, down = 1;
    long long* lost = nullptr;
};

template <class Real>
struct Axis {  // a value a sample, padded to whole blocks
    const Real *inverse, *decay, *drive;
};
struct alignas(16) Tile {  // some rows of a plane, some blocks of 16 of each: all alike
    int i, j, k;           // first plane, row and block
    int rows, blocks;      // how many: at most 8 blocks, and as many rows as there are threads for
    int a_slab, b_slab;    // number of the plane, of the first row, in its slab; -1: outside
    short c_slab;          // whether the blocks lie in a slab along the rows
    short unit;            // whether all inverse lengths along axes of whose slabs it is outside are exactly 1
};
// Threads a row of a tile, as a power of two: four a block.
NEARFIELD_CELL int threads_of_row(int blocks) { return blocks > 4 ? 5 : blocks > 2 ? 4 : blocks > 1 ? 3 : 2; }
// An entry of a palette: the place of its coefficients, in blocks of 16; whether there is loss; whether there is none and
// its 16 cells are alike.
constexpr unsigned entry_is_lossy = 1u << 31, entry_is_alike = 1u << 30, entry_place = entry_is_alike - 1,
                   no_entry = entry_is_lossy | entry_is_alike;
template <class Real>
struct HalfStep {
    Real* records;  // record (0, 0)
    Real *a_psi, *b_psi;
    Axis<Real> a, b, c;
    const unsigned* program_of;  // by row
    const unsigned* entries;     // by program and block
    const Real* values;          // in blocks of 16: three of Cb, or three pairs of Ca, Cb
    const Tile* tiles;
    long record, plane, psi_row, b_plane;  // strides
    int field, rows, blocks;               // `rows`: of a plane
    int c_low, c_gap;                      // blocks in the lower slab along the rows, and between the slabs
    Scale own, other;                      // of the fields made, of those read
};

// Psi of the a and b slabs in two sets; those of the c slabs lie in the records. Strides as in HalfStep.
template <class Real>
struct PsiSets {
    const Real *a_from, *b_from;
    Real *a_to, *b_to;
    long row, b_plane;
};
// Some tiles from one set of records to another.
template <class Real>
struct Carry {
    const Real* from;  // record (0, 0)
    Real* to;
    PsiSets<Real> psi;
    const Tile* tiles;
    long record, plane;
    int field, rows, c_low, c_gap;  // as in HalfStep
};
template <class Real>
struct SweepHalf {  // as in HalfStep
    Axis<Real> a, b, c;
    const unsigned *program_of, *entries;
    const Real* values;
};
// Steps in one pass: what a block of threads makes, of which some rows and cells at its sides are not stored.
constexpr int cells_of_prism = 64, rows_of_prism = 16, planes_of_prism = 128;  // planes: at most
struct Prism {
    int i, j, k, planes, rows, cells;  // what is stored: first plane, row and cell, and how many
    int first_j, first_k;              // of what is made; `k`, `cells` and this in fours
    int unit;                          // whether all inverse lengths there are exactly 1
};
struct SlabAlong {  // an axis: its first `low` samples, and those from `low` + `gap` on; along the rows blocks of 16
    int low, gap;

    NEARFIELD_CELL bool holds(int n) const { return n < low || n >= low + gap; }
    NEARFIELD_CELL int index(int n) const { return n < low ? n : n - gap; }
};
template <class Real>
struct Sweep {
    const Real* from;  // record (0, 0)
    Real* to;
    PsiSets<Real> psi;
    SlabAlong slab[3];
    SweepHalf<Real> electric, magnetic;
    const Prism* prisms;
    long record, plane;
    int field, planes, rows, blocks;  // of the domain
};

struct PoleBlock {  // 16 cells of a component that hold media
    long at;        // in the records
    unsigned first, last;
};
struct PoleUse {  // of a medium in such a block
    long state;   // (states, 16)
    unsigned cell, medium;
};
struct PoleNumbers {
    int firsts, seconds, at;
};
template <class Real>
struct Poles {
    Real* records;
    const PoleBlock* blocks;
    const PoleUse* uses;
    const Real* cells;  // 16 of stay, 16 of weight
    const PoleNumbers* media;
    const Real* numbers;
    Real* states;
    int count;  // blocks
    Scale scale;
};

struct Touched {  // a sample, and what acts on it, in order
    long at;
    unsigned first, last;
};
enum class Act : int { current, circuit, product };
struct Action {
    Act act;
    unsigned number;  // among those of its kind
};
template <class Real>
struct Current {
    Real weight;
    int column;
};
struct Product {
    Wide weight;
    unsigned functional, place;
};
struct Products {  // of one functional in this block: (samples, terms)
    Wide* values;
    long terms, stride;
};
template <class Real>
struct Points {
    Real* records;
    const Now* now;
    const Touched* samples;
    const Action* actions;
    const Current<Real>* currents;
    const cell::CircuitNumbers<Wide>* circuits;
    const int* circuit_columns;  // -1: no source
    cell::CircuitState<Wide>* states;
    const Product* products;
    const Products* functionals;
    const Real* table;  // amplitudes, (steps, waveforms)
    int count, waveforms;
    Scale scale;
};

struct Received {  // what a sample takes of a wave
    unsigned wave, taps, tap;
};
template <class Real>
struct WaveTable {  // of one half step, (steps, columns); no values: silent
    const Real* values;
    long columns;
};
template <class Real>
struct Incident {
    Real* records;
    const Now* now;
    const Touched* samples;
    const Received* received;
    const Real* weights;  // one each
    const int* columns;   // by tap
    const Real* shares;
    const WaveTable<Real>* waves;
    int count;
    Scale scale;
};

template <class Real>
struct Coupling {
    Real* records;
    const long* at;
    const unsigned* first;  // tap of each sample, and one past the last
    const int* offsets;
    const Real* weights;
    int count;
    Scale electric, magnetic;
};

// Copies that close an axis: samples `from`, two steps on, to `to`; three components at most.
template <class Real>
struct Seam {
    Real *re, *im;  // no `im`: real fields
    long from, to, outer, inner;
    int components[3], count;  // of which those at these multiples of `field`
    long field, outers, inners;
    Real cosine, sine;
    Scale scale;
};

template <class Real>
struct Box {
    const Real* from;  // its first sample
    long plane, row;   // strides
    long shape[3];
    Scale scale;
};
template <class Real>
struct Spectrum {
    Box<Real> box;
    const Now* now;
    const Real* phasors;  // (steps, frequencies, 2)
    Real* sums;           // (frequencies, 2, samples)
    int parts;            // 2 frequencies
};
template <class Real>
struct CopyBox {
    Box<Real> box;
    Real* to;
    Real unit;
};

template <class Real>
struct Halo {
    Real *records, *a_psi, *b_psi;
    long a_psi_from, b_psi_from;  // where they begin, counted through all three
    Real* values;
    const long* places;  // of each value among all states
    long count;
    int out;
};

template <class Real>
struct Energy {
    const Real* components[6];  // in their order from the axis of the blocks on
    long along, across, other;  // strides
    long first[3], last[3];     // samples along these axes
    long long* digits;
    int blocks;      // of 16 along
    Scale scale[2];  // of E, of H
};

}  // namespace nearfield::cuda
