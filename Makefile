# The commands of this repository; `make` alone lists them.
PYTHON_IN := .venv/bin/python

.PHONY: help setup demo test nightly test-numa validation bench benchmarks peers cluster docs lint gpu-check sanitize lowest arm clean

help:
	@echo "make demo        the line-fed patch antenna, into out/patch_antenna/"
	@echo "make test        every test but the slow ones"
	@echo "make test-numa   pages and threads of the solver on a machine of two NUMA nodes, in an emulator"
	@echo "make nightly     every test, test-numa, the sanitizers, the lowest versions and 64-bit Arm"
	@echo "make arm         the core cross-compiled for 64-bit Arm, a test of each feature under emulation"
	@echo "make validation  rerun validation/ and rewrite its table"
	@echo "make bench       the empty box on this machine;  make peers: beside openEMS"
	@echo "make benchmarks  every script of benchmarks/ at a moderate size, into out/benchmarks/"
	@echo "make cluster     halos between emulated hosts, measured and predicted (as root)"
	@echo "make docs        rewrite the pages that are made from the code"
	@echo "make lint        ruff, clang-format and mypy: rules, layout, types"
	@echo "make gpu-check   every kernel compiled for every architecture of cards: registers, spills, contraction; its PTX run"
	@echo "make clean       remove what was built; .venv and out/ too with make clean ALL=1"

setup:
	@scripts/setup

demo: setup
	@.venv/bin/nearfield demo

test: setup
	@scripts/core_tests
	@scripts/quick_tests $(PYTHON_IN)

test-numa: setup
	@scripts/numa_guest

nightly: export NEARFIELD_DRAWS = 8
nightly: setup lint
	@scripts/core_tests
	@$(PYTHON_IN) -m pytest -q
	@scripts/numa_guest
	@scripts/sanitize
	@scripts/lowest
	@# the spectra of whole runs take many minutes in an emulator, and are NumPy's
	@scripts/arm tests/engine tests/test_facts.py --ignore=tests/engine/test_schedules.py --timeout=3600

validation: setup
	@$(PYTHON_IN) -m validation.run_all

bench: setup
	@.venv/bin/nearfield bench box --cells 200 --steps 200 --threads 2 --boundary pec
	@.venv/bin/nearfield bench box --cells 200 --steps 200 --threads 2 --boundary cpml

BENCHMARKS_OUT := --pairs 3 --output out/benchmarks

benchmarks: setup
	@.venv/bin/nearfield bench features --cells 128 --steps 100
	@$(PYTHON_IN) benchmarks/scaling.py --steps 100 $(BENCHMARKS_OUT)
	@$(PYTHON_IN) benchmarks/domains.py --steps 100 $(BENCHMARKS_OUT)
	@$(PYTHON_IN) benchmarks/sizes.py --up-to 400 --work 4e8 $(BENCHMARKS_OUT)
	@$(PYTHON_IN) benchmarks/denormals.py $(BENCHMARKS_OUT)
	@$(PYTHON_IN) benchmarks/dft_plane.py --steps 100 $(BENCHMARKS_OUT)
	@$(PYTHON_IN) benchmarks/busy_neighbour.py --steps 200 $(BENCHMARKS_OUT)
	@$(PYTHON_IN) benchmarks/residence.py $(BENCHMARKS_OUT)
	@$(PYTHON_IN) benchmarks/field_files.py --cells 100 $(BENCHMARKS_OUT)
	@$(PYTHON_IN) benchmarks/solids.py --cells 200 $(BENCHMARKS_OUT)
	@$(PYTHON_IN) benchmarks/python_loops.py --cells 100 $(BENCHMARKS_OUT)
	@$(PYTHON_IN) benchmarks/peers/compare.py --steps 100 $(BENCHMARKS_OUT) || true
	@$(PYTHON_IN) benchmarks/peers/compare.py --case patch --steps 400 $(BENCHMARKS_OUT) || true

peers: setup
	@$(PYTHON_IN) benchmarks/peers/compare.py --cells 200 --steps 200 --pairs 5
	@$(PYTHON_IN) benchmarks/peers/compare.py --case patch --pairs 5

cluster: setup
	@$(PYTHON_IN) benchmarks/cluster.py

docs: setup
	@$(PYTHON_IN) -m scripts.write_docs

lint: setup
	@$(PYTHON_IN) -m ruff check
	@$(PYTHON_IN) -m ruff format --check
	@git ls-files -z 'core/*.hpp' 'core/*.h' 'core/*.cpp' 'core/*.cu' 'tests/*.cpp' | xargs -0 .venv/bin/clang-format --dry-run -Werror
	@$(PYTHON_IN) -m mypy

gpu-check: setup
	@$(PYTHON_IN) scripts/requirements.py --cuda > .venv/cuda-requirements.txt
	@$(PYTHON_IN) -m pip install -q -c constraints.txt -r .venv/cuda-requirements.txt || true
	@$(PYTHON_IN) scripts/gpu_check.py
	@$(PYTHON_IN) -m pytest -q -rs tests/ptx $(ONLY)

sanitize: setup
	@scripts/sanitize

lowest: setup
	@scripts/lowest

arm: setup
	@scripts/arm

clean:
	@rm -rf build .pytest_cache .hypothesis .ruff_cache .mypy_cache
	@rm -f .venv/core.stamp
	@if [ -n "$(ALL)" ]; then rm -rf .venv out; fi
