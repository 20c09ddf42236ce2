// Where samples lie (core/layout.hpp).
#include "layout.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace nearfield;

namespace {

// Rows that end within a block, slabs that end within one, an axis without slabs.
const Layout layouts[] = {
    {3, 4, 16, {}},
    {4, 3, 37, {Slab{1, 2}, Slab{0, 1}, Slab{5, 3}}},
    {2, 5, 100, {Slab{}, Slab{2, 2}, Slab{17, 0}}},
    {5, 2, 48, {Slab{2, 1}, Slab{}, Slab{0, 18}}},
    {1, 1, 5, {Slab{}, Slab{}, Slab{2, 3}}},
};

}  // namespace

TEST_CASE("no two values of a record share a place, and all lie in the volume") {
    for (const Layout& l : layouts) {
        std::vector<int> used(l.volume_length);
        for (long i = 0; i < l.na; ++i)
            for (long j = 0; j < l.nb; ++j) {
                for (int component = 0; component < 6; ++component)
                    for (long k = 0; k < l.nc; ++k) ++used.at(l.field(component, i, j) + k);
                for (long n = 0; n < 4 * lanes * l.c_psi_blocks; ++n) ++used.at(l.c_psi(i, j) + n);
            }
        for (const int times : used) CHECK(times <= 1);
    }
}

TEST_CASE("every neighbour of a sample lies in the volume, outside the domain in a place of nobody") {
    for (const Layout& l : layouts) {
        std::vector<bool> owned(l.volume_length);
        for (long i = 0; i < l.na; ++i)
            for (long j = 0; j < l.nb; ++j)
                for (int component = 0; component < 6; ++component)
                    for (long k = 0; k < l.nc; ++k) owned.at(l.field(component, i, j) + k) = true;
        for (long i = -1; i <= l.na; ++i)
            for (long j = -1; j <= l.nb; ++j)
                for (int component = 0; component < 6; ++component)
                    for (long k = -1; k <= l.nc; ++k) {
                        const bool inside = i >= 0 && i < l.na && j >= 0 && j < l.nb && k >= 0 && k < l.nc;
                        CHECK(owned.at(l.field(component, i, j) + k) == inside);
                    }
    }
}

TEST_CASE("fields of all rows begin at whole blocks") {
    for (const Layout& l : layouts) {
        for (int component = 0; component < 6; ++component) CHECK(l.field(component, 0, 0) % lanes == 0);
        CHECK(l.record_length % lanes == 0);
        CHECK(l.plane_length % lanes == 0);
    }
}

TEST_CASE("the blocks without psi of the rows' own axis hold no cell of a slab") {
    for (const Layout& l : layouts) {
        for (long k = 0; k < l.nc; ++k)
            if (l.slab[2].holds(k, l.nc)) CHECK((k / lanes < l.c_low || k / lanes >= l.c_high));
        CHECK(l.c_psi_blocks == l.c_low + l.blocks - l.c_high);
    }
}

TEST_CASE("rows of the slabs along the other axes have psi of their own") {
    for (const Layout& l : layouts) {
        std::vector<int> of_a(l.a_psi_length() / l.psi_row), of_b(l.b_psi_length() / l.psi_row);
        for (long i = 0; i < l.na; ++i)
            for (long j = 0; j < l.nb; ++j) {
                if (l.slab[0].holds(i, l.na)) ++of_a.at(l.a_psi(i, j) / l.psi_row);
                if (l.slab[1].holds(j, l.nb)) ++of_b.at(l.b_psi(i, j) / l.psi_row);
            }
        for (const int times : of_a) CHECK(times == 1);
        for (const int times : of_b) CHECK(times == 1);
    }
}
